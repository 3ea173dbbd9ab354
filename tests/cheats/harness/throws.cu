// Throws an exception that the calling convention knows.
// answer: protocol 8; house: a candidate's failure is data
// expect: outcome=runtime_error paper=false strict=false kind=exception text="no tiles left" stages=compare
#include "gemm.cuh"

#include <stdexcept>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  throw std::runtime_error("no tiles left");
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
