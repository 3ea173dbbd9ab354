// Asks for more shared memory than it was given leave for, as if another variant had set the attribute; looks at no error.
// answer: house, a fresh process for every candidate; protocol 3, poison
// expect: outcome=wrong_value paper=false strict=false pattern=unwritten stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  product<><<<g.grid(), kThreads, 100 << 10, g.stream>>>(g);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
