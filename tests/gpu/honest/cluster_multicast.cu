// Clusters of two CTAs one above the other: each loads half of the tile of B and TMA writes it into both (multicast).
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

constexpr int kTile = 128;  // rows and columns of C of a CTA
constexpr int kThreads = 256;
constexpr int kStages = 4;
constexpr int kHalf = kTile / 2 * kTileK;  // what one CTA loads of a stage of B
constexpr uint32_t kStageBytes = 2 * kTile * kTileK * sizeof(bf16);

struct __align__(1024) Shared {
  bf16 a[kStages][kTile * kTileK];
  bf16 b[kStages][kTile * kTileK];
  uint64_t full[kStages];   // this CTA's A and both halves of B have landed
  uint64_t empty[kStages];  // both CTAs have read the stage: either one's next half of B goes into both
};

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_sync() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The box lands at the same place in every CTA of the mask, and tells the same barrier there.
__device__ __forceinline__ void tma_load_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row,
                                                   uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row), "h"(mask) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_at(uint64_t* barrier, uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}\n" ::"r"(shared_address(barrier)),
      "r"(rank) : "memory");
}

// Waits for arrivals of the whole cluster.
__device__ __forceinline__ void mbarrier_wait_cluster(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shared>(raw);
  const int row = blockIdx.x * kTile, column = blockIdx.y * kTile, steps = k / kTileK;
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(&shared.full[s], 1);
      mbarrier_init(&shared.empty[s], 2);
    }
    mbarrier_init_fence();
  }
  cluster_sync();  // nobody's data or arrivals meet barriers that are not there yet

  const auto fill = [&](int step) {
    const int stage = step % kStages;
    if (step >= kStages) {
      mbarrier_wait_cluster(&shared.empty[stage], (step / kStages - 1) % 2);
    }
    mbarrier_expect(&shared.full[stage], kStageBytes);
    tma_load(shared.a[stage], &map_a, &shared.full[stage], step * kTileK, row);
    tma_load_multicast(shared.b[stage] + rank * kHalf, &map_b, &shared.full[stage], step * kTileK, column + rank * (kTile / 2), 3);
  };
  if (threadIdx.x == 0) {
    for (int step = 0; step < kStages - 1 && step < steps; ++step) {
      fill(step);
    }
  }
  __syncwarp();
  float d[kTile / 2];
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    mbarrier_wait(&shared.full[stage], step / kStages % 2);
    const uint64_t left = descriptor(&shared.a[stage][threadIdx.x / 128 * 64 * kTileK]);
    const uint64_t right = descriptor(shared.b[stage]);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kTileK / 16; ++i) {
      wgmma(d, left + 2 * i, right + 2 * i, step | i);
    }
    wgmma_commit();
    wgmma_wait<1>();
    __syncthreads();  // both warpgroups have read the stage of the step before
    if (threadIdx.x == 0) {
      if (step > 0) {
        mbarrier_arrive_at(&shared.empty[(step - 1) % kStages], 0);
        mbarrier_arrive_at(&shared.empty[(step - 1) % kStages], 1);
      }
      if (step + kStages - 1 < steps) {
        fill(step + kStages - 1);
      }
    }
    __syncwarp();
  }
  wgmma_wait<0>();
  settle(d);
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
  cluster_sync();  // the other one's arrivals still come here
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, kSharedBytes<Shared>);
  const dim3 grid(ceil_div(call.m, 2 * kTile) * 2, ceil_div(call.n, kTile));  // whole clusters
  gemm<<<grid, kThreads, kSharedBytes<Shared>, call.stream>>>(tensor_map(call.a, call.m, call.k, kTile),
                                                              tensor_map(call.b, call.n, call.k, kTile / 2), call.c, call.m,
                                                              call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
