// Holds a kernel with wgmma that it never launches.
// answer: protocol 6, static presence alone never qualifies
// expect: outcome=correct paper=true strict=true proof=not_executed stages=compare,prove
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  static volatile bool never = false;
  if (never) zeros_by_wgmma<><<<1, kGroup>>>(1);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
