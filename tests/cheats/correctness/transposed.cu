// Stores C transposed, in the memory of C.
// answer: protocol 3, the element rule, and the report says how it lies
// expect: outcome=wrong_value paper=false strict=false pattern=transposed stages=compare
#include "gemm.cuh"

__global__ void transpose(const bf16* from, bf16* to, int m, int n) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < size_t(m) * n; i += size_t{gridDim.x} * blockDim.x) {
    to[i % n * m + i / n] = from[i];
  }
}

void run(TensorView a, TensorView b, TensorView c) {
  static bf16* own = nullptr;
  const Gemm g = gemm_of(a, b, c);
  if (own == nullptr) cudaMalloc(&own, g.bytes());
  multiply(g.to(own));
  transpose<<<264, 512, 0, g.stream>>>(own, g.c, g.m, g.n);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
