// One box loaded into poisoned shared memory, all of which is given back.
#pragma once

#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/sm90/fence.cuh"

namespace contracts {

constexpr int kShared = 40 * 1024;

// Poisons shared memory, loads one box to `to` (bytes from a multiple of 1024) and gives back all of shared memory and whether the
// barrier completed with `bytes`.
template <int kRank>
__global__ void load_once(const __grid_constant__ CUtensorMap map, Coordinates corner, uint32_t to, uint32_t bytes, bool prefetch,
                          uint8_t* dump, int* completed) {
  __shared__ alignas(1024) uint32_t box[kShared / 4];
  __shared__ uint64_t barrier;
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    box[i] = kSharedPoison;
  }
  ptxk::fence_proxy_async_shared();  // ordinary stores, then TMA's to the same place
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
    if (prefetch) {
      ptxk::tma_prefetch_descriptor(&map);
      prefetch_box<kRank>(&map, corner);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptxk::mbarrier_arrive_expect_tx(&barrier, bytes);
    load_box<kRank>(reinterpret_cast<uint8_t*>(box) + to, &map, &barrier, corner);
  }
  const bool done = completes(&barrier, 0);
  if (threadIdx.x == 0) {
    *completed = done;
  }
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    reinterpret_cast<uint32_t*>(dump)[i] = box[i];
  }
}

}  // namespace contracts
