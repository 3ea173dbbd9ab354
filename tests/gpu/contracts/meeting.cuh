// Blocks of a cluster that meet whatever happens: what failed is counted, and nobody is left waiting for who gave up.
#pragma once

#include "bounded.cuh"
#include "ptxk/sm90/cluster.cuh"

namespace contracts {

constexpr unsigned kClusterSizes[] = {2, 4, 8};

// cluster_sync and __syncthreads want warps whole, also after a branch.
__device__ __forceinline__ void all_meet() {
  __syncwarp();
  __syncthreads();
  ptxk::cluster_sync();
}

// Waits until one failed, and no more after it.
struct Patience {
  bool lost = false;
  __device__ bool wait(uint64_t* barrier, uint32_t parity) {
    lost = lost || !completes(barrier, parity);
    return !lost;
  }
};

}  // namespace contracts
