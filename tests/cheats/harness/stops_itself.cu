// Stops its process, so that nothing in it goes on and nothing ends either.
// answer: protocol 8, a run of the candidate; one candidate costs its own child
// expect: outcome=timeout paper=false strict=false kind=timeout stages=compare run_s=2
#include "gemm.cuh"

#include <csignal>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  std::raise(SIGSTOP);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
