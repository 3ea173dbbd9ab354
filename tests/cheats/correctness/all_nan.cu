// Stores NaN everywhere, for checkers to which NaN is a wild card.
// answer: protocol 3, NaN only where the reference has NaN
// expect: outcome=wrong_value paper=false strict=false pattern=nan stages=compare
#include "gemm.cuh"

struct Nowhere : Exact {
  __device__ static float result(float sum, const Gemm&, int, int) { return sum * 0.0f + __int_as_float(0x7fc00000); }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Nowhere>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
