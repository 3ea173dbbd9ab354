// expect: paper=violation strict=violation rule=vendor_library line=3
// The plain case: the published rule refuses the header, wherever it is installed.
#include <cublas_v2.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
