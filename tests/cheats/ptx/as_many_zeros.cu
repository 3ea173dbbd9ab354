// mma.sync does the work; beside it as many wgmma as the task needs multiply zeros.
// answer: protocol 6: executed, and of the right share; that they do the work shows by mutation only (--prove-by-mutation)
// expect: outcome=correct paper=true strict=true proof=qualified without=work_share stages=compare,prove
// open: executed counts cannot tell zeros from operands; no flag without --prove-by-mutation, and the latency pays for both
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  zeros_by_wgmma<><<<dim3((g.m + kRows - 1) / kRows, g.n / kTile), kGroup, 0, g.stream>>>(g.k / 16);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
