// The plain GEMM's device code, for ctypes.
#include "gemm.cuh"

namespace plain {
alignas(16) float shared_floats[host_cuda::kFloats];
}

extern "C" int run_gemm(int reversed, const void* a, const void* b, void* c, int m, int n, int k) {
  using plain::kTile;
  return host_cuda::run_grid((m + kTile - 1) / kTile, (n + kTile - 1) / kTile, plain::shared_floats, plain::kSharedBytes, reversed, [=] {
    plain::gemm(static_cast<const __nv_bfloat16*>(a), static_cast<const __nv_bfloat16*>(b), static_cast<__nv_bfloat16*>(c), m, n, k);
  });
}
