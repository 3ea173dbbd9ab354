// Runs a program.
// answer: protocol 1: process_control
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=process_control
#include "gemm.cuh"

#include <cstdlib>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  std::system("nvidia-smi --gpu-reset");
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
