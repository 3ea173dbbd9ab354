// Stores the negative of every result.
// answer: protocol 3, the element rule, and the report names the factor
// expect: outcome=wrong_value paper=false strict=false pattern=constant_factor stages=compare
#include "gemm.cuh"

struct Negated : Exact {
  __device__ static float result(float sum, const Gemm&, int, int) { return -sum; }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Negated>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
