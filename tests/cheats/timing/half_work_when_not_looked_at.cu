// Sums half of the products in the timed calls that are not looked at: fast, and slower than the roofline.
// answer: protocol 3, outputs of timed iterations are checked: of any of them, not of known ones
// expect: outcome=wrong_value|tampered paper=true strict=false stages=compare,time
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  const int timed = calls++ - kCompared;
  const bool seen = timed < 0 || timed >= kTrials * kTrial || timed % kTrial >= kTrial - kSlots;
  multiply(seen ? g : g.summing(g.k / 2));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
