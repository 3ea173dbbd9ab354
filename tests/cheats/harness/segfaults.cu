// Writes through a null pointer on the host.
// answer: protocol 8, one candidate costs its own child
// expect: outcome=runtime_error paper=false strict=false kind=signal signal=SIGSEGV stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  *static_cast<volatile int*>(nullptr) = 1;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
