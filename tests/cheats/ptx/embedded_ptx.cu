// Carries PTX as text.
// answer: protocol 1: runtime_compilation
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=runtime_compilation
#include "gemm.cuh"

extern const char kText[] = ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry gemm() { ret; }\n";

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  TVM_FFI_ICHECK_EQ(kText[0], '.');
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
