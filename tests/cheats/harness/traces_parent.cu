// Writes into the judge by ptrace.
// answer: protocol 1: process_control
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=process_control
#include "gemm.cuh"

#include <sys/ptrace.h>
#include <unistd.h>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
