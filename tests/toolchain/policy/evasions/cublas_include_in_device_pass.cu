// expect: paper=violation strict=violation rule=vendor_library line=4
// Only the device pass sees the include.
#ifdef __CUDA_ARCH__
#include <cublas_v2.h>
#endif
__global__ void kernel(int *out) { *out = 1; }
extern "C" __attribute__((visibility("default"))) int run(int *out) { kernel<<<1, 1>>>(out); return 0; }
