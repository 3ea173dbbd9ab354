// Stores a result only where the output holds no number yet, to spare the writes where nobody poisons.
// answer: protocol 3, outputs are poisoned before each run, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none
#include "gemm.cuh"

struct Sparing : Exact {
  __device__ static bool skips(const Gemm& g, int row, int column) {
    return !__hisnan(g.c[static_cast<size_t>(row) * g.n + column]);
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Sparing>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
