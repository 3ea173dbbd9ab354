// expect: paper=violation strict=violation rule=vendor_library line=4
// Uses the library only where it is installed.
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
