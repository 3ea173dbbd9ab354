// Throws a number, which no calling convention knows.
// answer: protocol 8, one candidate costs its own child
// expect: outcome=runtime_error paper=false strict=false stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  throw 42;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
