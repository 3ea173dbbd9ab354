// The schedule "cluster-multicast" multiplies rightly in both of its ways.
#include "../../../src/ptxbench/packs/data/schedules/snippets/cluster_multicast.cu"

#include "gemm.hpp"

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    const auto start = [](auto kernel) {
      return [kernel](CUtensorMap a, CUtensorMap b, float* c, int m, int n, int k) {
        CUDA_MUST(launch_cluster(kernel, dim3(m / 128, n / 256), dim3(384), kCluster, shared_bytes<Shared>, nullptr, a, b, c, m, n, k));
      };
    };
    CUDA_MUST(allow_shared(multicast_shares, shared_bytes<Shared>));
    CUDA_MUST(allow_shared(multicast_from_first, shared_bytes<Shared>));
    try_gemm<256 / kCluster>(checks, "cluster-multicast", "each its share", start(multicast_shares));
    try_gemm<256>(checks, "cluster-multicast", "the first for all", start(multicast_from_first));
  }
  return checks.status();
}
