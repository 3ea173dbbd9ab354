// expect: error front @ 4 - calling a __host__ function("helper(float)") from a __global__ function("kernel") is not allowed
float helper(float x);
__global__ void kernel(float* out) {
  out[0] = helper(out[0]);
}
