// expect: error ptxas @ 5 3 syntax error in `add.f32
__device__ __forceinline__ float broken(float x) {
  float y;
  // two operands run together
  asm("add.f32 %0, %1 %1;" : "=f"(y) : "f"(x));
  return y;
}
__global__ void kernel(float* out) { out[0] = broken(out[1]); }
