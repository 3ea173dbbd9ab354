// Drops the last bit of every operand.
// answer: protocol 3, the element rule by dtype and reduction length
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

struct Shorter : Exact {
  __device__ static bf16 operand(bf16 value) { return __ushort_as_bfloat16(__bfloat16_as_ushort(value) & 0xfffe); }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Shorter>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
