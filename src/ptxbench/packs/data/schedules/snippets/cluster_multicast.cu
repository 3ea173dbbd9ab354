// C[M,N] = A[M,K] * B[N,K]^T, bf16 in and float out, by clusters of two blocks along M that share their tile of B. M, N multiples
// of the tile; gridDim.x counts blocks along M.
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/cluster.cuh"
#include "ptxk/sm90/mbarrier.cuh"
#include "ptxk/sm90/tma.cuh"
#include "ptxk/sm90/wgmma_instances.cuh"
#include "store.cuh"

using namespace ptxk;

constexpr int kStages = 4, kConsumers = 2, kCluster = 2;
using TileA = OperandTile<Swizzle::b128, Major::k, 128, 64>;
using TileB = OperandTile<Swizzle::b128, Major::k, 256, 64>;
struct alignas(1024) Shared {
  uint8_t a[kStages][TileA::kTileBytes];
  uint8_t b[kStages][TileB::kTileBytes];
  uint64_t full[kStages];
  uint64_t empty[kStages];
};

// kShares: each CTA multicasts its share of B (map_b has boxes of 256 / kCluster rows); else rank 0 the whole (256 rows).
template <bool kShares>
__device__ __forceinline__ void gemm(const CUtensorMap* map_a, const CUtensorMap* map_b, float* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  Shared& shared = aligned_shared<Shared>(raw);
  const int row = blockIdx.x * 128, column = blockIdx.y * 256, steps = (k + 63) / 64;
  const uint32_t rank = cluster_rank();
  // [setup]
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(&shared.full[stage], 1);                       // this CTA's own producer
      mbarrier_init(&shared.empty[stage], kConsumers * kCluster);  // the consumers of all CTAs
    }
    fence_mbarrier_init();
  }
  cluster_sync();  // before any CTA signals another's barriers
  // [/setup]
  Ring<kStages> ring;
  if (threadIdx.x / 128 == 0) {
    if (threadIdx.x == 0) {
      // [producer]
      const uint16_t everyone = (1 << kCluster) - 1;
      for (int step = 0; step < steps; ++step, ring.advance()) {
        uint64_t* full = &shared.full[ring.stage];
        mbarrier_wait_parity(&shared.empty[ring.stage], ring.parity ^ 1);
        mbarrier_arrive_expect_tx(full, TileA::kTileBytes + TileB::kTileBytes);  // all that lands here, whoever sends it
        tma_load_2d(shared.a[ring.stage], map_a, full, step * 64, row);
        if (kShares) {  // boxes of 256 / kCluster rows of B
          const int share = rank * (256 / kCluster);
          tma_load_2d_multicast(shared.b[ring.stage] + share * 128, map_b, full, step * 64, column + share, everyone);
        } else if (rank == 0) {  // boxes of 256 rows
          tma_load_2d_multicast(shared.b[ring.stage], map_b, full, step * 64, column, everyone);
        }
      }
      // [/producer]
    }
    __syncwarp();
  } else {
    const int thread = threadIdx.x % 128, consumer = threadIdx.x / 128 - 1;
    float d[128];
    for (int step = 0; step < steps; ++step, ring.advance()) {
      mbarrier_wait_parity(&shared.full[ring.stage], ring.parity);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        wgmma_m64n256k16_bf16(d, make_descriptor<Swizzle::b128, Major::k, 128, 64>(shared.a[ring.stage], i, consumer),
                              make_descriptor<Swizzle::b128, Major::k, 256, 64>(shared.b[ring.stage], i), (step | i) != 0);
      }
      wgmma_commit();
      // [release]
      wgmma_wait<0>();
      if (thread < kCluster) {  // one arrival of this warpgroup in each CTA
        mbarrier_arrive_remote(&shared.empty[ring.stage], thread);
      }
      // [/release]
    }
    wgmma_settle(d);
    store_rows(c, n, row + consumer * 64, column, m, d);
  }
  // [exit]
  cluster_sync();  // nobody leaves while others still write its shared memory or arrive on its barriers
  // [/exit]
}

extern "C" __global__ void __launch_bounds__(384, 1)
    multicast_shares(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c, int m, int n,
                     int k) {
  gemm<true>(&map_a, &map_b, c, m, n, k);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    multicast_from_first(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c, int m,
                         int n, int k) {
  gemm<false>(&map_a, &map_b, c, m, n, k);
}
