// expect: error link - - - multiple definition of `__wrap_cudaGetDriverEntryPoint'
extern "C" int __wrap_cudaGetDriverEntryPoint() { return 1; }
__global__ void kernel(float* out) { out[0] = 1.0f; }
