// expect: paper=ok strict=ok
// A macro with assembly before an include that does not use it.
#define COMMIT_GROUP() asm volatile("cp.async.commit_group;" ::: "memory")
#include <cuda_fp16.h>
__global__ void kernel(__half *x) { COMMIT_GROUP(); *x = __float2half(1.f); }
extern "C" __attribute__((visibility("default"))) int run(__half *x) { kernel<<<1, 1>>>(x); return 0; }
