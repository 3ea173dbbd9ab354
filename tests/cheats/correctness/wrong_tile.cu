// Is right but for one tile of 128 by 128.
// answer: protocol 3, a mismatch names the tile
// expect: outcome=wrong_value paper=false strict=false pattern=confined stages=compare
#include "gemm.cuh"

struct ButOne : Exact {
  __device__ static float result(float sum, const Gemm&, int row, int column) {
    return row / kTile == 3 && column / kTile == 5 ? sum + 100.0f : sum;
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<ButOne>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
