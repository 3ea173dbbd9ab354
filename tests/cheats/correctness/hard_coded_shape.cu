// Takes M for the published workload's 8192, whatever it is given.
// answer: protocol 4, memcheck; protocol 3, guard bands
// expect: outcome=sanitizer_error paper=false strict=false stages=compare,sanitize
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  Gemm g = gemm_of(a, b, c);
  g.m = 8192;
  multiply(g);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
