// Never returns.
// answer: protocol 8, a run of the candidate
// expect: outcome=timeout paper=false strict=false kind=timeout stages=compare run_s=2
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  for (volatile int i = 0;; i = i + 1) {
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
