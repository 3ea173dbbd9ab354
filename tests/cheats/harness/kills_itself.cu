// Sends itself a signal that nobody catches.
// answer: protocol 8, one candidate costs its own child
// expect: outcome=runtime_error paper=false strict=false kind=signal signal=SIGKILL stages=compare
#include "gemm.cuh"

#include <csignal>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  std::raise(9);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
