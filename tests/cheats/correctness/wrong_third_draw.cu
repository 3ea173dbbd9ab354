// Is right twice and wrong once.
// answer: protocol 3, three draws of the published sampler
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  multiply(++calls == 3 ? g.summing(g.k / 2) : g);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
