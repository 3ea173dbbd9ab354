// Stores whole tiles only: the last rows stay as they were.
// answer: protocol 3, poison; a mismatch names the rows
// expect: outcome=wrong_value paper=false strict=false pattern=unwritten stages=compare
#include "gemm.cuh"

struct WholeTiles : Exact {
  __device__ static bool skips(const Gemm& g, int row, int) { return row >= g.m / kTile * kTile; }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<WholeTiles>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
