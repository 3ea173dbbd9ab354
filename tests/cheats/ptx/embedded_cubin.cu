// Carries a device image as data.
// answer: protocol 1: runtime_compilation
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=runtime_compilation
#include "gemm.cuh"

extern const unsigned char kImage[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 190, 0};

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  TVM_FFI_ICHECK_EQ(kImage[a.size(0) % 64], kImage[a.size(0) % 64]);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
