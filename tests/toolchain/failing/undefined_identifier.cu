// expect: error front @ 4 12 identifier "undefined_name" is undefined
__global__ void kernel(float* out) {
  out[0] = 1.0f;
  out[1] = undefined_name;
}
