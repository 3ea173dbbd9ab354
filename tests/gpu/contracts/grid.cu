// The barrier of the whole grid: what every block wrote before it is read by other blocks behind it, round after round, by ordinary
// loads and by TMA; without it, old words are read (PTX ISA, "Memory Consistency Model"; CUDA runtime API, cooperative launches).
#include <algorithm>

#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/grid.cuh"
#include "ptxk/sm90/tma.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kThreads = 128;
constexpr int kRounds = 300;
constexpr int kWords = kThreads;  // of a block, in each round

__host__ __device__ inline uint32_t word_of(uint32_t block, uint32_t round, uint32_t index) {
  return block * 2654435761u + round * 1000003u + index * 7919u + 1;
}

// Whose words a block reads in a round: another one's each time, wherever there are others.
__device__ inline uint32_t read_from(uint32_t round) { return (blockIdx.x + 1 + round) % gridDim.x; }

// How blocks write and read: ordinary stores and loads, or one of both by TMA.
enum Path { kOrdinary, kTmaReads, kTmaWrites };

// Each round: every block writes its words, the barrier, everyone reads another's. Two buffers in turn, so that one barrier a round
// does: who overwrites a buffer has passed the barrier of the round between. One block is late now and then.
template <Path kPath, bool kBarrier>
__global__ void __launch_bounds__(kThreads) rounds(uint32_t* buffers, uint32_t* tickets, uint32_t* wrong, uint32_t* lost) {
  __shared__ alignas(128) uint32_t box[kWords];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  uint32_t misses = 0;
  bool failed = false;
  for (uint32_t round = 0; round < kRounds; ++round) {
    uint32_t* words = buffers + size_t{round % 2} * gridDim.x * kWords;
    uint32_t* mine = words + blockIdx.x * kWords;
    const uint32_t value = word_of(blockIdx.x, round, threadIdx.x);
    if (round % 4 == 0 && blockIdx.x == round / 4 % gridDim.x) {
      contracts::pause_ns(4000);
    }
    if constexpr (kPath == kTmaWrites) {
      box[threadIdx.x] = value;
      ptxk::fence_proxy_async_shared();
      __syncthreads();
      if (threadIdx.x == 0) {
        ptxk::bulk_store(mine, box, kWords * 4);
        ptxk::tma_commit();
        ptxk::tma_wait<0>();
      }
    } else {
      mine[threadIdx.x] = value;
    }
    if constexpr (kPath == kTmaReads) {
      ptxk::fence_proxy_async();
    }
    if constexpr (kBarrier) {
      ptxk::grid_barrier(tickets);
    } else {
      __syncthreads();
    }
    const uint32_t other = read_from(round);
    const uint32_t* theirs = words + other * kWords;
    uint32_t got;
    if constexpr (kPath == kTmaReads) {
      if (threadIdx.x == 0) {
        ptxk::mbarrier_arrive_expect_tx(&barrier, kWords * 4);
        ptxk::bulk_load(box, theirs, kWords * 4, &barrier);
      }
      failed = failed || !contracts::completes(&barrier, round % 2);
      got = box[threadIdx.x];
      __syncthreads();  // read before the next load
    } else {
      got = theirs[threadIdx.x];
    }
    misses += got != word_of(other, round, threadIdx.x);
  }
  atomicAdd(wrong, misses);
  if (failed) {
    atomicAdd(lost, 1u);
  }
}

__global__ void __launch_bounds__(kThreads) cost(uint32_t* tickets, uint64_t* cycles) {
  ptxk::grid_barrier(tickets);
  const long long start = clock64();
  for (int turn = 0; turn < kRounds; ++turn) {
    ptxk::grid_barrier(tickets);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *cycles = static_cast<uint64_t>(clock64() - start) / kRounds;
  }
}

const std::vector<uint32_t> kZero(1, 0);  // a counter

struct Counts {
  uint64_t read = 0, wrong = 0, lost = 0;
};

template <Path kPath, bool kBarrier>
Counts run(int blocks) {
  contracts::Device<uint32_t> buffers(size_t{2} * blocks * kWords);
  contracts::Device<uint32_t> tickets(kZero), wrong(kZero), lost(kZero);
  CUDA_MUST(ptxk::launch_cooperative(rounds<kPath, kBarrier>, dim3(blocks), dim3(kThreads), 0, nullptr, buffers.get(),
                                     tickets.get(), wrong.get(), lost.get()));
  CUDA_FINISH("rounds");
  return {uint64_t{kRounds} * blocks * kWords, wrong.read()[0], lost.read()[0]};
}

template <Path kPath>
void exchanged(contracts::Checks& checks, const char* how, const std::vector<int>& grids) {
  uint64_t read = 0, wrong = 0;
  std::string detail;
  for (const int blocks : grids) {
    const Counts counts = run<kPath, true>(blocks);
    read += counts.read;
    wrong += counts.wrong + counts.lost;
    detail += text("%s%d blocks: %llu old words, %llu lost waits", detail.empty() ? "" : "; ", blocks,
                   static_cast<unsigned long long>(counts.wrong), static_cast<unsigned long long>(counts.lost));
  }
  checks.report("grid-barrier", text("%d rounds: %s", kRounds, how), read, wrong, detail);
}

// The wrong use: a barrier of each block alone.
template <Path kPath>
double old_words(contracts::Checks& checks, const char* how, int blocks) {
  const Counts counts = run<kPath, false>(blocks);
  checks.measured("grid-barrier", text("without the barrier, %s: undefined, so whatever it is", how),
                  {{"blocks", blocks},
                   {"words", static_cast<double>(counts.read)},
                   {"old_words", static_cast<double>(counts.wrong)},
                   {"lost_waits", static_cast<double>(counts.lost)}});
  return static_cast<double>(counts.wrong);
}

void launches(contracts::Checks& checks, int most) {
  Tally tally;
  contracts::Device<uint32_t> tickets(kZero);
  contracts::Device<uint64_t> cycles(1);
  const cudaError_t fits =
      ptxk::launch_cooperative(cost, dim3(most), dim3(kThreads), 0, nullptr, tickets.get(), cycles.get());
  tally.holds(fits == cudaSuccess, [&] { return text("%d blocks: %s", most, cudaGetErrorName(fits)); });
  CUDA_FINISH("cost of the largest grid");
  const uint32_t drawn = tickets.read()[0], expected = static_cast<uint32_t>(most) * (kRounds + 1);
  tally.equal(expected, drawn, [] { return text("tickets drawn"); });
  const cudaError_t beyond =
      ptxk::launch_cooperative(cost, dim3(most + 1), dim3(kThreads), 0, nullptr, tickets.get(), cycles.get());
  tally.holds(beyond == cudaErrorCooperativeLaunchTooLarge,
              [&] { return text("%d blocks: %s", most + 1, cudaGetErrorName(beyond)); });
  cudaGetLastError();  // takes the error back
  CUDA_MUST(cudaDeviceSynchronize());
  checks.report("grid-barrier", "launch_cooperative takes the largest grid that is resident and refuses one block more", tally,
                text("at most %d blocks", most));
}

double cycles_of(int blocks) {
  contracts::Device<uint64_t> cycles(1);
  uint64_t best = ~uint64_t{0};
  for (int turn = 0; turn < 4; ++turn) {
    contracts::Device<uint32_t> tickets(kZero);
    CUDA_MUST(ptxk::launch_cooperative(cost, dim3(blocks), dim3(kThreads), 0, nullptr, tickets.get(), cycles.get()));
    CUDA_FINISH("cost");
    best = std::min(best, cycles.read()[0]);
  }
  return static_cast<double>(best);
}

void check(contracts::Checks& checks) {
  int sms = 0, plain = 0, with_box = 0;
  CUDA_MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA_MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&plain, cost, kThreads, 0));
  CUDA_MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_box, rounds<kOrdinary, true>, kThreads, 0));
  launches(checks, sms * plain);
  exchanged<kOrdinary>(checks, "ordinary loads see what ordinary stores of other blocks wrote", {1, 2, 7, sms, sms * with_box});
  exchanged<kTmaReads>(checks, "after fence_proxy_async by its writers TMA reads what other blocks wrote", {2, sms, sms * 2});
  exchanged<kTmaWrites>(checks, "after tma_wait by its issuers what TMA wrote is seen by other blocks", {2, sms, sms * 2});
  const double old = old_words<kOrdinary>(checks, "ordinary stores and loads", sms);
  old_words<kTmaReads>(checks, "TMA reads", sms);
  old_words<kTmaWrites>(checks, "TMA writes", sms);
  checks.report("grid-barrier", "without the barrier old words are read", 1, old == 0,
                text("%.0f old words in %d rounds of %d blocks", old, kRounds, sms));
  checks.measured("grid-barrier", "a barrier of 128 threads a block",
                  {{"blocks", sms}, {"one_block_an_sm_cycles", cycles_of(sms)}, {"two_blocks_an_sm_cycles", cycles_of(2 * sms)}});
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
