// Puts code into a section of its own, which nobody disassembles.
// answer: protocol 1: section_attribute
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=section_attribute
#include "gemm.cuh"

__attribute__((section(".mine"), used)) static void hidden() {}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
