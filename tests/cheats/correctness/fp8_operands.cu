// Rounds both operands to 8-bit floats (e4m3), as if the task were one in fp8.
// answer: protocol 3, the element rule by dtype and reduction length
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

#include <cuda_fp8.h>

struct Coarse : Exact {
  __device__ static bf16 operand(bf16 value) {
    return __float2bfloat16(static_cast<float>(__nv_fp8_e4m3(__bfloat162float(value))));
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Coarse>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
