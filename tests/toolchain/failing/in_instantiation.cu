// expect: error front @ 6 16 no operator "*" matches these operands
struct Tile { float value; };
template <typename T>
__device__ float scaled(T value) {
  // the fault is here, the cause is at the call
  return value * 2.0f;
}
__global__ void kernel(float* out, Tile tile) { out[0] = scaled(tile); }
