// Sums a tenth of the products once it is timed.
// answer: protocol 3, outputs of timed iterations checked, on a second set of inputs
// expect: outcome=wrong_value paper=true strict=false text="while timing" stages=compare,time
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  multiply(calls++ < kCompared ? g : g.summing(g.k / 10));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
