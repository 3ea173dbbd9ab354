// expect: error front @ 3 - function "kernel" has already been defined
__global__ void kernel(float* out) { out[0] = 1.0f; }
__global__ void kernel(float* out) { out[0] = 2.0f; }
