// Takes inputs beyond 128 for zero: further out than any of the set at another scale, which is the strict one of even seeds.
// answer: protocol 3, strict: one input set with another scale or outliers, by the seed
// expect: outcome=correct paper=true strict=true stages=compare seed=0
// open: an evaluation draws one of the two; the record names the set, and an odd seed draws outliers: no flag
#include "gemm.cuh"

struct Dull : Exact {
  __device__ static bf16 operand(bf16 value) { return fabsf(__bfloat162float(value)) > 128.0f ? __float2bfloat16(0.0f) : value; }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Dull>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
