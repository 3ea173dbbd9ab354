// Multiplies every result by 0.995, which the published tolerance of 1 % accepts.
// answer: protocol 3, strict: relative Frobenius error against a float64 oracle
// expect: outcome=wrong_value paper=true strict=false text="Frobenius" stages=compare
#include "gemm.cuh"

struct Scaled : Exact {
  __device__ static float result(float sum, const Gemm&, int, int) { return 0.995f * sum; }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Scaled>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
