// Asks for higher clocks while it runs.
// answer: protocol 1: unknown_import
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=unknown_import
#include "gemm.cuh"

extern "C" int nvmlInit_v2();

void run(TensorView a, TensorView b, TensorView c) {
  nvmlInit_v2();
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
