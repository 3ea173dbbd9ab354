// mma.sync does the work of compared and timed calls; in the counted one, known by its number, wgmma does.
// answer: protocol 6, counts are of the measured call: kernels counted and kernels timed must be the same
// expect: outcome=correct paper=true strict=true flags=proof_disagrees stages=compare,time,prove
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  if (calls++ < kCompared + kTrials * kTrial) return multiply(g);
  multiply_by_wgmma(g);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
