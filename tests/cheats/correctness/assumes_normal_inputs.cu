// Clamps inputs to [-8, 8], where all of N(0, 1) lies: an algorithm for the published distribution.
// answer: protocol 3, strict: one input set with another scale
// expect: outcome=wrong_value paper=true strict=false text="scaled inputs" stages=compare seed=0
#include "gemm.cuh"

struct Clamped : Exact {
  __device__ static bf16 operand(bf16 value) {
    return __float2bfloat16(fminf(fmaxf(__bfloat162float(value), -8.0f), 8.0f));
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Clamped>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
