__device__ inline float part() {
  return not_there;
}
