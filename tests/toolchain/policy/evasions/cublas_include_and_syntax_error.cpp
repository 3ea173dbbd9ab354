// expect: paper=violation strict=violation rule=vendor_library line=3
// A source that does not compile is refused for what it uses, not for the error.
#include <cublas_v2.h>
extern "C" __attribute__((visibility("default"))) int run() { cublasHandle_t handle return 0; }
