// Arrivals on the barriers of other blocks of a cluster, their counts and bytes, and what they publish (PTX ISA, "mbarrier.arrive",
// "mbarrier.try_wait").
#include "check.hpp"
#include "meeting.cuh"
#include "ptxk/sm90/dsmem.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/tma.cuh"

using contracts::all_meet;
using contracts::Patience;
using contracts::Tally;
using contracts::text;

namespace {

constexpr int kThreads = 128;

enum Question { kHeld, kCompleted, kExpectOpen, kExpectDone, kExpectData, kQuestions };
const char* const kAsked[kQuestions] = {"one remote arrival missing: not completed", "all remote arrivals: completed",
                                        "a neighbour's arrive_expect_tx: open until the bytes come",
                                        "a neighbour's arrive_expect_tx: completed by them", "... and the bytes are there"};

// Every thread of every block arrives on every block's barrier, thread 0 of rank 0 last. Then each block's bytes are expected by
// its neighbour.
__global__ void arrive_remotely(const uint32_t* source, int* answers) {
  __shared__ alignas(128) uint32_t landed[kThreads];
  __shared__ uint64_t counted, expected;
  const uint32_t rank = ptxk::cluster_rank(), size = ptxk::cluster_size();
  int* mine = answers + blockIdx.x * kQuestions;
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&counted, size * kThreads);
    ptxk::mbarrier_init(&expected, 1);
    ptxk::fence_mbarrier_init();
  }
  all_meet();
  const bool last = rank == 0 && threadIdx.x == 0;
  for (uint32_t cta = 0; cta < size && !last; ++cta) {
    ptxk::mbarrier_arrive_remote(&counted, cta);
  }
  all_meet();
  if (threadIdx.x == 0) {
    mine[kHeld] = contracts::stays_open(&counted, 0);
  }
  all_meet();
  for (uint32_t cta = 0; cta < size && last; ++cta) {
    ptxk::mbarrier_arrive_remote(&counted, cta);
  }
  const bool completed = contracts::completes(&counted, 0);
  if (threadIdx.x == 0) {
    mine[kCompleted] = completed;
    ptxk::mbarrier_arrive_expect_tx_remote(&expected, (rank + 1) % size, kThreads * 4);
  }
  all_meet();
  if (threadIdx.x == 0) {
    mine[kExpectOpen] = contracts::stays_open(&expected, 0);
    ptxk::bulk_load(landed, source + rank * kThreads, kThreads * 4, &expected);
  }
  const bool done = contracts::completes(&expected, 0);
  const int right = __syncthreads_and(landed[threadIdx.x] == source[rank * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) {
    mine[kExpectDone] = done;
    mine[kExpectData] = right;
  }
  all_meet();
}

__device__ uint32_t secret(int round, uint32_t block, uint32_t thread) { return round * 1000003u + block * 4099u + thread; }

// Ranks above 0 write into rank 0's shared memory and arrive with release; rank 0 waits with acquire, reads, and gives the memory
// back in the same way.
__global__ void publish(int rounds, uint32_t* wrong, uint32_t* lost) {
  __shared__ uint32_t inbox[7][kThreads];
  __shared__ uint64_t full, empty;
  const uint32_t rank = ptxk::cluster_rank(), size = ptxk::cluster_size();
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&full, (size - 1) * kThreads);
    ptxk::mbarrier_init(&empty, kThreads);
    ptxk::fence_mbarrier_init();
  }
  all_meet();
  Patience patience;
  uint32_t misses = 0;
  for (int round = 0; round < rounds && !patience.lost; ++round) {
    const uint32_t parity = round % 2;
    if (rank != 0) {
      if (patience.wait(&empty, parity ^ 1)) {
        ptxk::mbarrier_wait_parity_cluster(&empty, parity ^ 1);  // completed: returns at once
        ptxk::store_remote(ptxk::map_to_cta(&inbox[rank - 1][threadIdx.x], 0), secret(round, rank, threadIdx.x));
        ptxk::mbarrier_arrive_remote_release(&full, 0);
      }
    } else if (patience.wait(&full, parity)) {
      ptxk::mbarrier_wait_parity_cluster(&full, parity);
      for (uint32_t from = 1; from < size; ++from) {
        const uint32_t other = kThreads - 1 - threadIdx.x;
        misses += inbox[from - 1][other] != secret(round, from, other);
      }
      for (uint32_t cta = 1; cta < size; ++cta) {
        ptxk::mbarrier_arrive_remote_release(&empty, cta);
      }
    }
  }
  atomicAdd(wrong, misses);
  if (patience.lost) {
    atomicAdd(lost, 1u);
  }
  all_meet();
}

void check(contracts::Checks& checks) {
  contracts::Random random(0xA441);
  std::vector<uint32_t> words(8 * kThreads);
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(random.next());
  }
  const contracts::Device<uint32_t> source(words);
  Tally answered[kQuestions], published, lost;
  for (const unsigned size : contracts::kClusterSizes) {
    contracts::Device<int> answers(size * kQuestions);
    CUDA_MUST(ptxk::launch_cluster(arrive_remotely, dim3(size), dim3(kThreads), size, 0, nullptr, source.get(), answers.get()));
    CUDA_FINISH("arrive_remotely");
    const std::vector<int> said = answers.read();
    for (unsigned i = 0; i < size * kQuestions; ++i) {
      answered[i % kQuestions].equal(1, said[i], [&] { return text("rank %u of %u", i / kQuestions, size); });
    }
    contracts::Device<uint32_t> wrong(std::vector<uint32_t>(1, 0)), gave_up(std::vector<uint32_t>(1, 0));
    CUDA_MUST(ptxk::launch_cluster(publish, dim3(size), dim3(kThreads), size, 0, nullptr, 500, wrong.get(), gave_up.get()));
    CUDA_FINISH("publish");
    published.equal(0u, wrong.read()[0], [&] { return text("words missed, clusters of %u", size); });
    lost.equal(0u, gave_up.read()[0], [&] { return text("threads whose wait failed, clusters of %u", size); });
  }
  for (int i = 0; i < kQuestions; ++i) {
    checks.report(i >= kExpectOpen ? "mbarrier-expect-tx" : "mbarrier-remote", kAsked[i], answered[i]);
    if (i >= kExpectOpen) {
      checks.report("mbarrier-remote", kAsked[i], answered[i]);
    }
  }
  checks.report("mbarrier-remote", "500 rounds: release and acquire of the cluster publish remote stores", published);
  checks.report("mbarrier-remote", "500 rounds: full and empty barriers across blocks keep both sides going", lost);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
