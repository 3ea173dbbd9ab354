// expect: paper=violation strict=violation rule=vendor_library line=5
// The header's name is put together from macros, delimiters and all.
#define BEGIN <
#define HEADER BEGIN cublas_v2.h>
#include HEADER
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
