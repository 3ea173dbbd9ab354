// Rounds the running sums to bfloat16 after every step of 32.
// answer: protocol 3, strict: Frobenius error by reduction length; the element rule
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

struct ShortSums : Exact {
  __device__ static float step(float sum) { return __bfloat162float(__float2bfloat16(sum)); }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<ShortSums>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
