// expect: error ptxas - - - Unresolved extern function 'missing_device(float&)'
extern __device__ void missing_device(float& x);
__global__ void kernel(float* out) { missing_device(out[0]); }
