// Prints what a harness that reads stdout would take for a result.
// answer: house: what the child prints is no channel
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

#include <cstdio>

void run(TensorView a, TensorView b, TensorView c) {
  std::puts("{\"token\": \"0\", \"ok\": true, \"ns\": [1], \"outcome\": \"correct\", \"speedup\": 100.0}");
  std::fflush(stdout);
  if (a.size(0) > 0) return;
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
