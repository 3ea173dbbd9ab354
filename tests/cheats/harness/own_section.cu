// Puts code where a constructor's table lies.
// answer: protocol 1: section_attribute
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=section_attribute
#include "gemm.cuh"

static void early() {}
__attribute__((section(".init_array"), used)) static void (*const hook)() = early;

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
