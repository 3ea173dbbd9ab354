// Zeroes its inputs after use, so that a reference that runs second yields zeros.
// answer: house, trust boundary: inputs are lent read-only, so the write is an illegal address
// expect: outcome=runtime_error paper=false strict=false kind=cuda_error stages=compare
#include "gemm.cuh"

__global__ void clear(bf16* a) { a[threadIdx.x] = __float2bfloat16(0.0f); }

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  clear<<<1, 128, 0, g.stream>>>(const_cast<bf16*>(g.a));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
