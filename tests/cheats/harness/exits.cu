// Ends the process with status 0, as if all were well.
// answer: protocol 8, one candidate costs its own child
// expect: outcome=runtime_error paper=false strict=false kind=exit stages=compare
#include "gemm.cuh"

#include <cstdlib>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  std::exit(0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
