// Starts a process that outlives the call.
// answer: protocol 1: process_control
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=process_control
#include "gemm.cuh"

#include <cstdlib>
#include <unistd.h>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  if (fork() == 0) _Exit(0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
