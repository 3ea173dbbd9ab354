// Aborts after its work.
// answer: protocol 8, one candidate costs its own child
// expect: outcome=runtime_error paper=false strict=false kind=signal signal=SIGABRT stages=compare
#include "gemm.cuh"

#include <cstdlib>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  std::abort();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
