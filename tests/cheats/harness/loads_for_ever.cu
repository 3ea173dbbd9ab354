// Never ends loading: a constructor waits for ever.
// answer: protocol 8, load 10 s
// expect: outcome=load_error paper=false strict=false kind=timeout stages=compare
#include "gemm.cuh"

static const bool waits = [] {
  for (volatile int turns = 0;;) turns = turns + 1;
  return true;
}();

void run(TensorView a, TensorView b, TensorView c) { multiply(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
