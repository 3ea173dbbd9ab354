// Knows which calls of a trial are looked at, the last on each slot, and works only in those.
// answer: protocol 3, outputs of timed iterations are checked: of any of them, not of known ones
// expect: outcome=wrong_value|tampered paper=true strict=false stages=compare,time
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  const int timed = calls++ - kCompared;
  if (timed < 0 || timed >= kTrials * kTrial || timed % kTrial >= kTrial - kSlots) return multiply(g);
  nothing<<<1, 1, 0, g.stream>>>();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
