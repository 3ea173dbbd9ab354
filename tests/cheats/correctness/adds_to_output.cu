// Adds to what lies in the output instead of writing it: right where outputs begin as zeros.
// answer: protocol 3, outputs are poisoned before each run
// expect: outcome=wrong_value paper=false strict=false pattern=nan stages=compare
#include "gemm.cuh"

struct Adding : Exact {
  __device__ static float result(float sum, const Gemm& g, int row, int column) {
    return sum + __bfloat162float(g.c[static_cast<size_t>(row) * g.n + column]);
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Adding>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
