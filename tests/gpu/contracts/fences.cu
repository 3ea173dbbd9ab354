// Proxy fences: ordinary writes, the fence, then TMA reads them, round after round, in shared and in global memory; and what the
// fences cost (PTX ISA, "membar, fence", "Proxies", "Async proxy").
#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/sm90/fence.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kRounds = 400;
constexpr int kBlocks = 64;
constexpr int kWords = 32 * 16;  // a box of 2 KiB

__host__ __device__ inline uint32_t word_of(uint32_t block, uint32_t round, uint32_t index) {
  return block * 2654435761u + round * 1000003u + index * 7919u;
}

enum Fence { kShared, kEvery, kNone, kIssuer };

template <Fence kFence>
__device__ __forceinline__ void fence() {
  if constexpr (kFence == kShared) {
    ptxk::fence_proxy_async_shared();
  } else if constexpr (kFence == kEvery) {
    ptxk::fence_proxy_async();
  }
}

// Ordinary stores to shared memory, then a TMA store of them. The writers change from round to round, so that every thread's
// stores are issued by another one.
template <Fence kFence>
__global__ void shared_to_tma(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) uint32_t box[kWords];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = threadIdx.x; i < kWords; i += blockDim.x) {
      const int index = (i + round * 32) % kWords;
      box[index] = word_of(blockIdx.x, round, index);
    }
    fence<kFence>();
    __syncthreads();
    if (static_cast<int>(threadIdx.x) == round % static_cast<int>(blockDim.x)) {
      if constexpr (kFence == kIssuer) {
        ptxk::fence_proxy_async_shared();
      }
      ptxk::tma_store_2d(&map, box, 0, (blockIdx.x * kRounds + round) * 16);
      ptxk::tma_commit();
      ptxk::tma_wait<0>();
    }
    __syncthreads();
  }
}

// Ordinary stores to global memory, then a bulk load of them by another thread of the block: needs the fence of all spaces.
template <Fence kFence>
__global__ void global_to_bulk(uint32_t* scratch, uint32_t* wrong, uint32_t* lost) {
  __shared__ alignas(128) uint32_t landed[kWords];
  __shared__ uint64_t barrier;
  uint32_t* mine = scratch + blockIdx.x * kWords;
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  uint32_t misses = 0;
  bool failed = false;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = threadIdx.x; i < kWords; i += blockDim.x) {
      mine[i] = word_of(blockIdx.x, round, i);
    }
    fence<kFence>();
    __syncthreads();
    if (threadIdx.x == 0) {
      ptxk::mbarrier_arrive_expect_tx(&barrier, kWords * 4);
      ptxk::bulk_load(landed, mine, kWords * 4, &barrier);
    }
    failed = failed || !contracts::completes(&barrier, round % 2);
    for (int i = threadIdx.x; i < kWords && !failed; i += blockDim.x) {
      misses += landed[i] != word_of(blockIdx.x, round, i);
    }
    __syncthreads();
  }
  atomicAdd(wrong, misses);
  if (failed) {
    atomicAdd(lost, 1u);
  }
}

// One thread stores 16 bytes to shared memory and has them stored at once, to a place of each round: nothing lies between but the
// fence.
template <Fence kFence>
__global__ void alone(uint4* to) {
  __shared__ alignas(16) volatile uint32_t quad[4];
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 4; ++i) {
      quad[i] = word_of(blockIdx.x, round, i);
    }
    fence<kFence>();
    ptxk::bulk_store(&to[blockIdx.x * kRounds + round], const_cast<uint32_t*>(quad), 16);
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
}

template <Fence kFence>
Tally by_one_thread() {
  contracts::Device<uint4> memory(static_cast<size_t>(kBlocks) * kRounds);
  alone<kFence><<<kBlocks, 1>>>(memory.get());
  CUDA_FINISH("alone");
  const std::vector<uint4> got = memory.read();
  Tally tally;
  for (uint32_t i = 0; i < got.size(); ++i) {
    const uint32_t words[] = {got[i].x, got[i].y, got[i].z, got[i].w};
    for (int word = 0; word < 4; ++word) {
      tally.equal(word_of(i / kRounds, i % kRounds, word), words[word],
                  [&] { return text("block %u round %u word %d", i / kRounds, i % kRounds, word); });
    }
  }
  return tally;
}

// Words that were not seen, and threads whose wait failed, of bulk loads after ordinary stores to global memory.
struct Missed {
  uint32_t words, waits;
};

template <Fence kFence>
Missed loads() {
  contracts::Device<uint32_t> scratch(kBlocks * kWords), wrong(std::vector<uint32_t>(1, 0)), lost(std::vector<uint32_t>(1, 0));
  global_to_bulk<kFence><<<kBlocks, 128>>>(scratch.get(), wrong.get(), lost.get());
  CUDA_FINISH("global_to_bulk");
  return {wrong.read()[0], lost.read()[0]};
}

// Cycles of one fence after an ordinary store to shared memory, the mean of 64, in a block of `blockDim.x` threads.
template <int kKind>
__global__ void cost(uint32_t* cycles) {
  __shared__ volatile uint32_t word[1024];
  constexpr int kTimes = 64;
  __syncthreads();
  const long long start = clock64();
  for (int i = 0; i < kTimes; ++i) {
    word[threadIdx.x] = i;
    if constexpr (kKind == 1) {
      ptxk::fence_proxy_async_shared();
    } else if constexpr (kKind == 2) {
      ptxk::fence_proxy_async();
    } else if constexpr (kKind == 3) {
      ptxk::fence_cluster();
    }
  }
  const long long end = clock64();
  if (threadIdx.x == 0) {
    *cycles = static_cast<uint32_t>((end - start) / kTimes);
  }
}

template <int kKind>
double cost_of(int threads) {
  contracts::Device<uint32_t> cycles(1);
  for (int turn = 0; turn < 2; ++turn) {  // the first warms up
    cost<kKind><<<1, threads>>>(cycles.get());
    CUDA_FINISH("cost");
  }
  return cycles.read()[0];
}

template <Fence kFence>
void stores(Tally& tally) {
  contracts::Device<uint32_t> memory(static_cast<size_t>(kBlocks) * kRounds * kWords);
  CUtensorMap map;
  const CUresult made = ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT32, ptxk::Swizzle::none, 32, 16>(
      &map, memory.get(), {32, uint64_t{kBlocks} * kRounds * 16}, {128});
  tally.equal(0, static_cast<int>(made), [] { return text("CUresult of the map"); });
  shared_to_tma<kFence><<<kBlocks, 128>>>(map);
  CUDA_FINISH("shared_to_tma");
  const std::vector<uint32_t> got = memory.read();
  for (uint32_t i = 0; i < got.size(); ++i) {
    const uint32_t block = i / (kRounds * kWords), round = i / kWords % kRounds;
    tally.equal(word_of(block, round, i % kWords), got[i],
                [&] { return text("block %u round %u word %u", block, round, i % kWords); });
  }
}

void check(contracts::Checks& checks) {
  Tally shared, every, global, none, issuer;
  stores<kShared>(shared);
  checks.report("fence-proxy-async", "fence_proxy_async_shared: TMA stores what ordinary stores wrote, 400 rounds", shared);
  stores<kEvery>(every);
  checks.report("fence-proxy-async", "fence_proxy_async: the same", every);
  checks.report("fence-proxy-async", "fence_proxy_async_shared between the store and the issue of one thread",
                by_one_thread<kShared>());
  const Missed fenced = loads<kEvery>();
  global.equal(0u, fenced.words, [] { return text("words"); });
  global.equal(0u, fenced.waits, [] { return text("threads whose wait failed"); });
  checks.report("fence-proxy-async", "fence_proxy_async: bulk loads what ordinary stores wrote to global memory, 400 rounds",
                global);
  stores<kNone>(none);
  stores<kIssuer>(issuer);
  const auto share = [](const Tally& tally) { return static_cast<double>(tally.wrong()) / static_cast<double>(tally.cases()); };
  const Tally quick = by_one_thread<kNone>();
  const Missed unfenced = loads<kNone>();
  constexpr double kLoaded = double{kBlocks} * kRounds * kWords;
  checks.measured("fence-proxy-async", "share of words that were stale: undefined, so whatever it is",
                  {{"without_fence_share", share(none)},
                   {"without_fence_words", static_cast<double>(none.cases())},
                   {"fence_in_issuer_alone_share", share(issuer)},
                   {"fence_in_issuer_alone_words", static_cast<double>(issuer.cases())},
                   {"one_thread_without_fence_share", share(quick)},
                   {"one_thread_without_fence_words", static_cast<double>(quick.cases())},
                   {"global_without_fence_share", unfenced.words / kLoaded},
                   {"global_without_fence_words", kLoaded},
                   {"global_without_fence_lost_waits", static_cast<double>(unfenced.waits)}});
  for (const int threads : {32, 128, 256}) {
    const double none = cost_of<0>(threads);
    checks.measured("fence-proxy-async", text("cost after a store to shared memory, %d threads", threads),
                    {{"store_alone_cycles", none},
                     {"fence_proxy_async_shared_cycles", cost_of<1>(threads) - none},
                     {"fence_proxy_async_cycles", cost_of<2>(threads) - none},
                     {"fence_cluster_cycles", cost_of<3>(threads) - none}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
