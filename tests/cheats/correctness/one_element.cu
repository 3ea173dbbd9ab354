// Adds 8 to the last element.
// answer: protocol 3, every element is compared
// expect: outcome=wrong_value paper=false strict=false text="C: 1 of" pattern=confined stages=compare
#include "gemm.cuh"

struct Nearly : Exact {
  __device__ static float result(float sum, const Gemm& g, int row, int column) {
    return row == g.m - 1 && column == g.n - 1 ? sum + 8.0f + 0.25f * fabsf(sum) : sum;
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Nearly>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
