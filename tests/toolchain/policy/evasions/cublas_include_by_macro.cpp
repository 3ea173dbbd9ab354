// expect: paper=violation strict=violation rule=vendor_library line=4
// The header is named by a macro.
#define LIBRARY <cublas_v2.h>
#include LIBRARY
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
