// expect: paper=violation strict=violation rule=vendor_library
// A header of the candidate's own brings it in.
#include "parts/innocent.h"
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
