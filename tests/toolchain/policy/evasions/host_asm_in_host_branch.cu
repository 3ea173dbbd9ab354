// expect: paper=ok strict=violation rule=host_asm line=8
// Only the host's branch of a function holds it, by macro.
#define STOP asm volatile("nop")
__host__ __device__ void both() {
#ifdef __CUDA_ARCH__
    asm volatile("membar.cta;");
#else
    STOP;
#endif
}
__global__ void kernel() { both(); }
extern "C" __attribute__((visibility("default"))) int run() { kernel<<<1, 1>>>(); both(); return 0; }
