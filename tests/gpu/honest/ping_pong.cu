// Warp-specialised: a producer, and two consumers with a tile of 64x256 each; one multiplies while the other stores.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

constexpr int kTileM = 64;
constexpr int kTileN = 256;
constexpr int kStages = 5;
constexpr int kThreads = 384;  // producer and two consumers
constexpr uint32_t kStageBytes = (kTileM + kTileN) * kTileK * sizeof(bf16);

struct __align__(1024) Shared {
  bf16 a[kStages][kTileM * kTileK];
  bf16 b[kStages][kTileN * kTileK];
  uint64_t full[kStages];
  uint64_t empty[kStages];  // one consumer reads a stage: that of the tile's turn
  uint64_t order[2];        // the other consumer has met every stage of its tile
};

__global__ void __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shared>(raw);
  const int tiles_m = ceil_div(m, kTileM), tiles = tiles_m * ceil_div(n, kTileN), steps = k / kTileK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(&shared.full[s], 1);
      mbarrier_init(&shared.empty[s], 1);
    }
    mbarrier_init(&shared.order[0], 1);
    mbarrier_init(&shared.order[1], 1);
    mbarrier_init_fence();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      uint32_t turn = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (int step = 0; step < steps; ++step, ++turn) {
          const uint32_t stage = turn % kStages;
          mbarrier_wait(&shared.empty[stage], turn / kStages % 2 ^ 1);
          mbarrier_expect(&shared.full[stage], kStageBytes);
          tma_load(shared.a[stage], &map_a, &shared.full[stage], step * kTileK, tile % tiles_m * kTileM);
          tma_load(shared.b[stage], &map_b, &shared.full[stage], step * kTileK, tile / tiles_m * kTileN);
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = threadIdx.x / 128 - 1;
    float d[kTileN / 2];
    // The CTA's tiles go to the consumers in turn; the ring serves them in the same order. A wait tells a phase only from the one
    // before it, so nobody may look at the ring for a tile before the other one is through with the ring for its own.
    for (int number = consumer, tile = blockIdx.x + consumer * gridDim.x; tile < tiles; number += 2, tile += 2 * gridDim.x) {
      mbarrier_wait(&shared.order[consumer], (number / 2 + consumer + 1) % 2);  // the first one waits for nobody
      uint32_t turn = static_cast<uint32_t>(number) * steps;
      for (int step = 0; step < steps; ++step, ++turn) {
        const uint32_t stage = turn % kStages;
        mbarrier_wait(&shared.full[stage], turn / kStages % 2);
        const uint64_t left = descriptor(shared.a[stage]), right = descriptor(shared.b[stage]);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < kTileK / 16; ++i) {
          wgmma(d, left + 2 * i, right + 2 * i, step | i);
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (step > 0 && threadIdx.x % 128 == 0) {
          mbarrier_arrive(&shared.empty[(turn - 1) % kStages]);  // the step before has been read
        }
      }
      wgmma_wait<0>();
      if (threadIdx.x % 128 == 0) {
        mbarrier_arrive(&shared.empty[(turn - 1) % kStages]);
        mbarrier_arrive(&shared.order[1 - consumer]);
      }
      settle(d);
      store(d, c, tile % tiles_m * kTileM, tile / tiles_m * kTileN, m, n);
    }
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, kSharedBytes<Shared>);
  gemm<<<sm_count(), kThreads, kSharedBytes<Shared>, call.stream>>>(tensor_map(call.a, call.m, call.k, kTileM),
                                                                    tensor_map(call.b, call.n, call.k, kTileN), call.c, call.m,
                                                                    call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
