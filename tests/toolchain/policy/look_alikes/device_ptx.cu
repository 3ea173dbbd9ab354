// expect: paper=ok strict=ok
// PTX in functions, templates, members and macros.
#define FENCE() asm volatile("fence.proxy.async;" ::: "memory")
__device__ __forceinline__ unsigned lane() { unsigned id; asm("mov.u32 %0, %%laneid;" : "=r"(id)); return id; }
template <class T> __device__ T twice(T x) { asm volatile("membar.cta;"); return x + x; }
struct Tile { __device__ void wait() { asm volatile("bar.sync 0;"); } };
__global__ void kernel(float *x) { FENCE(); Tile().wait(); x[lane()] = twice(x[lane()]); }
extern "C" __attribute__((visibility("default"))) int run(float *x) { kernel<<<1, 32>>>(x); return 0; }
