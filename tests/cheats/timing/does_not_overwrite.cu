// Compares its new result with the output on the device and stores only what differs, to spare the writes.
// answer: protocol 3, outputs are poisoned before each run, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none
#include "gemm.cuh"

struct Sparing : Exact {
  __device__ static bool skips(const Gemm& g, int row, int column) {
    return __bfloat162float(g.c[static_cast<size_t>(row) * g.n + column]) == 12345.0f;
  }
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Sparing>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
