// Installs a handler for signals that a filter of system calls might raise.
// answer: protocol 1: process_control
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=process_control
#include "gemm.cuh"

#include <csignal>

void run(TensorView a, TensorView b, TensorView c) {
  struct sigaction action = {};
  sigaction(SIGSYS, &action, nullptr);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
