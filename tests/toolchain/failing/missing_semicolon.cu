// expect: error front @ 4 1 expected a ";"
__global__ void kernel(float* out) {
  out[0] = 1.0f
}
