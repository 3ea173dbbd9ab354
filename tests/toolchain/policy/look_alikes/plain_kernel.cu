// expect: paper=ok strict=ok
// Nothing at all.
__global__ void kernel(float *x) { x[threadIdx.x] *= 2; }
extern "C" __attribute__((visibility("default"))) int run(float *x) { kernel<<<1, 32>>>(x); return cudaGetLastError(); }
