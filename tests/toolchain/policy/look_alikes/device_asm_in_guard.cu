// expect: paper=ok strict=ok
// Assembly in the device branch of a shared function.
__host__ __device__ inline int both() {
#ifdef __CUDA_ARCH__
    int lane; asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane)); return lane;
#else
    return 0;
#endif
}
__global__ void kernel(int *x) { *x = both(); }
extern "C" __attribute__((visibility("default"))) int run(int *x) { kernel<<<1, 1>>>(x); return both(); }
