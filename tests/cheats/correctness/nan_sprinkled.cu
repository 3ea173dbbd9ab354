// Stores a NaN in one element of 65536.
// answer: protocol 3, equal_nan is false; NaN only where the reference has NaN
// expect: outcome=wrong_value paper=false strict=false pattern=nan stages=compare
#include "gemm.cuh"

struct Sprinkled : Exact {
  __device__ static float result(float sum, const Gemm& g, int row, int column) {
    return (static_cast<size_t>(row) * g.n + column) % 65536 == 7 ? __int_as_float(0x7fc00000) : sum;
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Sprinkled>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
