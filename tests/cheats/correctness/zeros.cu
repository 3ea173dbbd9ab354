// Stores zeros.
// answer: protocol 3, fresh draws; the element rule
// expect: outcome=wrong_value paper=false strict=false pattern=all_zeros stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  cudaMemsetAsync(g.c, 0, g.bytes(), g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
