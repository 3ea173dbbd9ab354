// The plain GEMM's device code, for ctypes.
#include "gemm.cuh"

namespace plain {
alignas(16) float shared_floats[host_cuda::kFloats];
}

using Bf16 = __nv_bfloat16;

extern "C" int run_gemm(int reversed, const void* a, const void* b, void* c, int m, int n, int k) {
  using plain::kTile;
  const unsigned width = (m + kTile - 1) / kTile, height = (n + kTile - 1) / kTile;
  return host_cuda::run_grid(width, height, plain::shared_floats, plain::kSharedBytes, reversed, [=] {
    plain::gemm(static_cast<const Bf16*>(a), static_cast<const Bf16*>(b), static_cast<Bf16*>(c), m, n, k);
  });
}
