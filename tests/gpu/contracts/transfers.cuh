// TMA into shared memory as fast as it goes: into one SM, into all of them, and by multicast between two blocks.
#pragma once

#include "boxes.cuh"
#include "measuring.cuh"
#include "meeting.cuh"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/launch.cuh"

namespace contracts {

constexpr int kBoxRows = 128;
constexpr int kBoxBytes = kBoxRows * 128;
constexpr int kLoads = 256;
constexpr int kBoxesOfBlock = 8;  // which a block loads in turn: all blocks' together stay in L2

template <int kDeep>
struct alignas(1024) Stages {
  uint8_t box[kDeep][kBoxBytes];
  uint64_t full[kDeep], empty[kDeep];
};

// Which box a load takes. Boxes are numbered along the rows of a matrix that is `1 << across` boxes wide.
struct Walk {
  int across;
  bool apart;  // each block or pair has boxes of its own; else all take the same
};

struct Corner {
  int column, row;
};

__device__ __forceinline__ Corner corner_of(Walk walk, int load, uint32_t who) {
  const int box = (walk.apart ? static_cast<int>(who) * kBoxesOfBlock : 0) + load % kBoxesOfBlock;
  return {(box & ((1 << walk.across) - 1)) * 64, (box >> walk.across) * kBoxRows};
}

// `kDeep` loads in flight: 1 gives the latency, more what arrives in an SM. The figures are those of block 0.
template <int kDeep>
__global__ void tma_loads(const __grid_constant__ CUtensorMap map, Walk walk, uint64_t* cycles) {
  extern __shared__ uint8_t raw[];
  Stages<kDeep>& shared = ptxk::aligned_shared<Stages<kDeep>>(raw);
  for (int i = 0; i < kDeep; ++i) {
    ptxk::mbarrier_init(&shared.full[i], 1);
  }
  ptxk::fence_mbarrier_init();
  const auto issue = [&](int load, int stage) {
    ptxk::mbarrier_arrive_expect_tx(&shared.full[stage], kBoxBytes);
    const Corner at = corner_of(walk, load, blockIdx.x);
    ptxk::tma_load_2d(shared.box[stage], &map, &shared.full[stage], at.column, at.row);
  };
  bool all = true;
  ptxk::Ring<kDeep> ring;
  const long long start = clock64();
  for (int load = 0; load < kDeep; ++load) {
    issue(load, load);
  }
  for (int load = 0; load < kLoads; ++load, ring.advance()) {
    all = arrives(&shared.full[ring.stage], ring.parity) && all;
    if (load + kDeep < kLoads && all) {
      issue(load + kDeep, ring.stage);
    }
  }
  if (blockIdx.x == 0) {
    *cycles = all ? clock64() - start : 0;
  }
}

// Clusters of two: each block reads one half of every box and sends it to both. A stage is filled again when both are done with it.
template <int kDeep>
__global__ void pair_loads(const __grid_constant__ CUtensorMap half_map, Walk walk, uint64_t* cycles) {
  extern __shared__ uint8_t raw[];
  Stages<kDeep>& shared = ptxk::aligned_shared<Stages<kDeep>>(raw);
  const uint32_t rank = ptxk::cluster_rank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kDeep; ++i) {
      ptxk::mbarrier_init(&shared.full[i], 1);
      ptxk::mbarrier_init(&shared.empty[i], 2);
    }
    ptxk::fence_mbarrier_init();
  }
  all_meet();
  bool all = true;
  ptxk::Ring<kDeep> ring;
  if (threadIdx.x == 32) {
    for (int load = 0; load < kLoads && all; ++load, ring.advance()) {
      all = arrives(&shared.empty[ring.stage], ring.parity ^ 1);
      if (all) {
        const Corner at = corner_of(walk, load, blockIdx.x / 2);
        ptxk::mbarrier_arrive_expect_tx(&shared.full[ring.stage], kBoxBytes);
        ptxk::tma_load_2d_multicast(shared.box[ring.stage] + rank * (kBoxBytes / 2), &half_map, &shared.full[ring.stage],
                                    at.column, at.row + static_cast<int>(rank) * (kBoxRows / 2), 0b11);
      }
    }
  } else if (threadIdx.x == 0) {
    const long long start = clock64();
    for (int load = 0; load < kLoads && all; ++load, ring.advance()) {
      all = arrives(&shared.full[ring.stage], ring.parity);
      ptxk::mbarrier_arrive_remote(&shared.empty[ring.stage], 0);
      ptxk::mbarrier_arrive_remote(&shared.empty[ring.stage], 1);
    }
    if (blockIdx.x == 0) {
      *cycles = all ? clock64() - start : 0;
    }
  }
  all_meet();  // no block ends while its peer may still write or arrive here
}

// Bytes that arrive in an SM in a cycle; 0 when a load did not come.
inline double bytes_per_cycle(double cycles) { return cycles > 0 ? double{kBoxBytes} * kLoads / cycles : 0; }

// Cycles of all loads of a block, with `blocks` loading at once.
template <int kDeep>
double load_cycles(const CUtensorMap& map, Walk walk, unsigned blocks) {
  constexpr int kBytes = ptxk::shared_bytes<Stages<kDeep>>;
  Device<uint64_t> cycles(1);
  CUDA_MUST(ptxk::allow_shared(tma_loads<kDeep>, kBytes));
  return least(cycles, [&] { tma_loads<kDeep><<<blocks, 1, kBytes>>>(map, walk, cycles.get()); });
}

template <int kDeep>
double pair_cycles(const CUtensorMap& half_map, Walk walk, unsigned pairs) {
  constexpr int kBytes = ptxk::shared_bytes<Stages<kDeep>>;
  Device<uint64_t> cycles(1);
  CUDA_MUST(ptxk::allow_shared(pair_loads<kDeep>, kBytes));
  return least(cycles, [&] {
    CUDA_MUST(
        ptxk::launch_cluster(pair_loads<kDeep>, dim3(pairs * 2), dim3(64), 2, kBytes, nullptr, half_map, walk, cycles.get()));
  });
}

}  // namespace contracts
