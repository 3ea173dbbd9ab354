// The schedule "warp-specialised" multiplies rightly.
#include "../../../src/ptxbench/packs/data/schedules/snippets/warp_specialised.cu"

#include "gemm.hpp"

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    constexpr int kBytes = shared_bytes<Shared>;
    CUDA_MUST(allow_shared(warp_specialised, kBytes));
    try_gemm<256>(checks, "warp-specialised", "products of every depth", [](CUtensorMap a, CUtensorMap b, float* c, int m, int n, int k) {
      warp_specialised<<<dim3(n / 256, m / 128), 384, kBytes>>>(a, b, c, m, n, k);
    });
  }
  return checks.status();
}
