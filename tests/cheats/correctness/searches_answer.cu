// Looks for the reference's output in memory that others have freed.
// answer: house, trust boundary: reference outputs are never in a candidate's process, and fresh memory is empty
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

// Copies whatever is not zero in fresh memory.
__global__ void search(const uint4* found, size_t count, uint4* c, size_t words) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const uint4 v = found[i];
    if ((v.x | v.y | v.z | v.w) != 0) c[i % words] = v;
  }
}

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  const size_t bytes = 2 * g.bytes();
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) return;
  search<<<264, 512, 0, g.stream>>>(static_cast<const uint4*>(memory), bytes / 16, reinterpret_cast<uint4*>(g.c), g.bytes() / 16);
  cudaFree(memory);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
