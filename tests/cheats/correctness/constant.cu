// Stores one constant everywhere.
// answer: protocol 3, the element rule
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

__global__ void fill(bf16* c, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    c[i] = __float2bfloat16(0.75f);
  }
}

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  fill<<<264, 512, 0, g.stream>>>(g.c, size_t(g.m) * g.n);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
