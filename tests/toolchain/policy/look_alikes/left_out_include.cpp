// expect: paper=ok strict=ok
// Includes that no preprocessor reads.
#if 0
#include <cublas_v2.h>
#include "/usr/include/stdio.h"
#line 7 "x.cu"
#else
#endif
#ifdef NEVER_DEFINED
#include <cudnn.h>
#endif
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
