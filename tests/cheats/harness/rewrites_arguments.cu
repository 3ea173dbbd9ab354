// Rewrites the shape of its own arguments in the runner's memory, so that later calls have one row to do.
// answer: protocol 3, outputs are read by the judge, which knows their shape
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  const_cast<int64_t*>(a.shape().data())[0] = 1;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
