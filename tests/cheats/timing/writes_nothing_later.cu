// Works while compared and does nothing afterwards.
// answer: protocol 3, poison before each run, timed outputs
// expect: outcome=wrong_value paper=true strict=false text="while timing" stages=compare,time
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  if (calls++ < kCompared) multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
