// expect: paper=violation strict=violation rule=vendor_library line=4
// A breach for which nothing is compiled does not hide the one that the published rule refuses.
#include "/usr/include/stdlib.h"
#include <cublas_v2.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
