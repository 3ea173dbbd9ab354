// expect: paper=ok strict=ok
// A header of its own with a name like a library's.
#include "parts/my_cublas_notes.h"
extern "C" __attribute__((visibility("default"))) int run() { return kNotes; }
