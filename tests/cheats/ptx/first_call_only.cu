// Executes wgmma in its first call, and never again.
// answer: protocol 6, kernels of the measured call only
// expect: outcome=correct paper=true strict=true proof=not_executed stages=compare,prove
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  static bool done = false;
  if (!done) zeros_by_wgmma<><<<1, kGroup>>>(1);
  done = true;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
