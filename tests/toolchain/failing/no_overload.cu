// expect: error front @ 5 12 no instance of function template "twice" matches the argument list
template <typename T>
__device__ T twice(T* value) { return *value * 2; }
__global__ void kernel(float* out) {
  out[0] = twice(out[0]);
}
