// Multiplies every result by 0.99.
// answer: protocol 3, the element rule: a bfloat16's rounding takes the rest of 1 %
// expect: outcome=wrong_value paper=false strict=false pattern=constant_factor stages=compare
#include "gemm.cuh"

struct Scaled : Exact {
  __device__ static float result(float sum, const Gemm&, int, int) { return 0.99f * sum; }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Scaled>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
