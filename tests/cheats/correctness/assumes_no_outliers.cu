// Takes inputs beyond 64 for zero, where no outlier is expected.
// answer: protocol 3, strict: one input set with outliers
// expect: outcome=wrong_value paper=true strict=false text="outliers inputs" stages=compare seed=1
#include "gemm.cuh"

struct Dull : Exact {
  __device__ static bf16 operand(bf16 value) { return fabsf(__bfloat162float(value)) > 64.0f ? __float2bfloat16(0.0f) : value; }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Dull>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
