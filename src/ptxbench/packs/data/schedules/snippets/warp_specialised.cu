// C[M,N] = A[M,K] * B[N,K]^T, bf16 in and float out: one producer and two consumer warpgroups. M, N multiples of the tile.
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/mbarrier.cuh"
#include "ptxk/sm90/registers.cuh"
#include "ptxk/sm90/tma.cuh"
#include "ptxk/sm90/wgmma_instances.cuh"
#include "store.cuh"

using namespace ptxk;

// [shared]
constexpr int kStages = 4, kConsumers = 2;
using TileA = OperandTile<Swizzle::b128, Major::k, 128, 64>;
using TileB = OperandTile<Swizzle::b128, Major::k, 256, 64>;
struct alignas(1024) Shared {
  uint8_t a[kStages][TileA::kTileBytes];
  uint8_t b[kStages][TileB::kTileBytes];
  uint64_t full[kStages];   // 1 arrival and the bytes of both tiles
  uint64_t empty[kStages];  // kConsumers arrivals
};
static_assert(registers_fit<384, 40, 232, 232>());
// [/shared]

extern "C" __global__ void __launch_bounds__(384, 1)
    warp_specialised(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c, int m, int n,
                     int k) {
  extern __shared__ uint8_t raw[];
  Shared& shared = aligned_shared<Shared>(raw);
  const int row = blockIdx.y * 128, column = blockIdx.x * 256, steps = (k + 63) / 64;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(&shared.full[stage], 1);
      mbarrier_init(&shared.empty[stage], kConsumers);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  // [loops]
  Ring<kStages> ring;                  // each side walks its own copy
  if (threadIdx.x / 128 == 0) {        // producer; the kernel is __launch_bounds__(384, 1)
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      for (int step = 0; step < steps; ++step, ring.advance()) {
        uint64_t* full = &shared.full[ring.stage];
        mbarrier_wait_parity(&shared.empty[ring.stage], ring.parity ^ 1);
        mbarrier_arrive_expect_tx(full, TileA::kTileBytes + TileB::kTileBytes);
        tma_load_2d(shared.a[ring.stage], &map_a, full, step * 64, row);
        tma_load_2d(shared.b[ring.stage], &map_b, full, step * 64, column);
      }
    }
  } else {
    setmaxnreg_inc<232>();
    const int consumer = threadIdx.x / 128 - 1;
    float d[128];
    int previous = 0;
    for (int step = 0; step < steps; ++step, ring.advance()) {
      mbarrier_wait_parity(&shared.full[ring.stage], ring.parity);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        wgmma_m64n256k16_bf16(d, make_descriptor<Swizzle::b128, Major::k, 128, 64>(shared.a[ring.stage], i, consumer),
                              make_descriptor<Swizzle::b128, Major::k, 256, 64>(shared.b[ring.stage], i), (step | i) != 0);
      }
      wgmma_commit();
      wgmma_wait<1>();                 // the group before this one has read its stage
      if (step > 0 && threadIdx.x % 128 == 0) mbarrier_arrive(&shared.empty[previous]);
      previous = ring.stage;
    }
    wgmma_wait<0>();
    wgmma_settle(d);
    // [/loops]
    store_rows(c, n, row + consumer * 64, column, m, d);
  }
}
