// expect: paper=ok strict=ok
// Device variables, which the stub registers, and printing.
#include <cstdio>
__constant__ float scale[4]; __device__ int counter;
__global__ void kernel(float *x) { if (threadIdx.x == 0) printf("%f %d\n", *x, atomicAdd(&counter, 1)); x[threadIdx.x] *= scale[0]; }
extern "C" __attribute__((visibility("default"))) int run(float *x) { float value = 2; cudaMemcpyToSymbol(scale, &value, 4); kernel<<<1, 32>>>(x); std::printf("done\n"); return 0; }
