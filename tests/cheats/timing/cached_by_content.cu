// Keeps every result by a fingerprint of all inputs, in device memory, and copies it out when it meets them again.
// answer: protocol 3, so that caching by fingerprint fails: calls on inputs never seen before are not as fast as those claimed
// expect: outcome=tampered paper=true strict=false text="results are kept" stages=compare,time
#include "gemm.cuh"

#include <map>

static bf16* memory(size_t bytes) {
  void* kept = nullptr;
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaMalloc(&kept, bytes)), 0);
  return static_cast<bf16*>(kept);
}

// Adds up all words of a matrix, each weighted by its place.
__global__ void fingerprint(const uint4* data, size_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const uint4 v = data[i];
    mine += (v.x + 3ull * v.y + 5ull * v.z + 7ull * v.w) * (2 * i + 1);
  }
  atomicAdd(sum, mine);
}

void run(TensorView a, TensorView b, TensorView c) {
  static std::map<unsigned long long, bf16*> results;
  static unsigned long long* sum = nullptr;
  if (sum == nullptr) cudaMalloc(&sum, sizeof *sum);
  const Gemm g = gemm_of(a, b, c);
  unsigned long long print = 0;
  cudaMemsetAsync(sum, 0, sizeof *sum, g.stream);
  fingerprint<<<512, 512, 0, g.stream>>>(reinterpret_cast<const uint4*>(g.a), size_t(g.m) * g.k / 8, sum);
  fingerprint<<<512, 512, 0, g.stream>>>(reinterpret_cast<const uint4*>(g.b), size_t(g.n) * g.k / 8, sum);
  cudaMemcpy(&print, sum, sizeof print, cudaMemcpyDeviceToHost);
  bf16*& kept = results[print];
  if (kept == nullptr) multiply(g.to(kept = memory(g.bytes())));
  cudaMemcpyAsync(g.c, kept, g.bytes(), cudaMemcpyDeviceToDevice, g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
