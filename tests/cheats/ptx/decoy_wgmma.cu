// mma.sync does the work; beside it a kernel multiplies zeros once by wgmma.
// answer: protocol 6, work_share: a decoy's is near 0
// expect: outcome=correct paper=true strict=true proof=qualified flags=work_share stages=compare,prove
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  zeros_by_wgmma<><<<1, kGroup>>>(1);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
