// Shared memory of other blocks of a cluster: loads and stores, a fence, asynchronous stores and bulk copies with their bytes on
// the receiver's barrier (PTX ISA, "mapa", "st.async", "cp.async.bulk", "membar, fence").
#include "check.hpp"
#include "meeting.cuh"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/dsmem.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"

using contracts::all_meet;
using contracts::Tally;
using contracts::text;

namespace {

constexpr int kThreads = 128;

__device__ uint32_t secret(int round, uint32_t from, uint32_t to, uint32_t index) {
  return round * 1000003u + from * 65537u + to * 8191u + index;
}

// Everyone writes a row of everyone's inbox, then reads the inboxes of all.
__global__ void stores_and_loads(uint32_t* wrong_stored, uint32_t* wrong_loaded) {
  __shared__ uint32_t inbox[8][kThreads];
  const uint32_t rank = ptxk::cluster_rank(), size = ptxk::cluster_size(), thread = threadIdx.x;
  all_meet();  // all have started
  uint32_t stored = 0, loaded = 0;
  for (int round = 0; round < 50; ++round) {
    for (uint32_t to = 0; to < size; ++to) {
      ptxk::store_remote(ptxk::map_to_cta(&inbox[rank][thread], to), secret(round, rank, to, thread));
    }
    all_meet();
    for (uint32_t other = 0; other < size; ++other) {
      stored += inbox[other][thread] != secret(round, other, rank, thread);
      loaded += ptxk::load_remote(ptxk::map_to_cta(&inbox[rank][thread], other)) != secret(round, rank, other, thread);
    }
    all_meet();
  }
  atomicAdd(wrong_stored, stored);
  atomicAdd(wrong_loaded, loaded);
}

// A flag of the cluster's scope, as the memory model asks of what two blocks touch at once.
__device__ void raise_flag(uint32_t remote, uint32_t value) {
  asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(value) : "memory");
}

__device__ bool sees_flag(const uint32_t* flag, uint32_t value) {
  const uint64_t start = contracts::now_ns();
  for (uint32_t turn = 0; turn < contracts::kMostTries && contracts::now_ns() - start < contracts::kPatience; ++turn) {
    uint32_t seen;
    asm volatile("ld.relaxed.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(ptxk::shared_address(flag)) : "memory");
    if (seen == value) {
      return true;
    }
  }
  return false;
}

// Data, fence, flag; flag, fence, data: each block to the next one.
__global__ void fenced_flags(uint32_t* wrong, uint32_t* lost) {
  __shared__ uint32_t data[4][kThreads];
  __shared__ uint32_t flag[kThreads];
  const uint32_t rank = ptxk::cluster_rank(), size = ptxk::cluster_size(), thread = threadIdx.x;
  const uint32_t next = (rank + 1) % size, before = (rank + size - 1) % size;
  flag[thread] = 0;
  all_meet();
  uint32_t misses = 0, unseen = 0;
  for (int round = 1; round <= 200; ++round) {
    for (int i = 0; i < 4; ++i) {
      ptxk::store_remote(ptxk::map_to_cta(&data[i][thread], next), secret(round, rank, next, i * kThreads + thread));
    }
    ptxk::fence_cluster();
    raise_flag(ptxk::map_to_cta(&flag[thread], next), round);
    if (unseen == 0 && sees_flag(&flag[thread], round)) {
      ptxk::fence_cluster();
      for (int i = 0; i < 4; ++i) {
        misses += data[i][thread] != secret(round, before, rank, i * kThreads + thread);
      }
    } else {
      unseen = 1;
    }
    all_meet();  // before the data is written again
  }
  atomicAdd(wrong, misses);
  atomicAdd(lost, unseen);
}

enum Question { kStoresOpen, kStoresDone, kStoresRight, kQuestions };
const char* const kAsked[kQuestions] = {"asynchronous stores: 16 bytes short of what is expected: not completed",
                                        "asynchronous stores: completed by the last 16 bytes",
                                        "asynchronous stores: the data is there"};

// Each thread sends 16 bytes to the next block, whose barrier expects 16 more than these.
__global__ void async_stores(int* answers) {
  __shared__ alignas(16) uint4 inbox[kThreads + 1];
  __shared__ uint64_t barrier;
  const uint32_t rank = ptxk::cluster_rank(), size = ptxk::cluster_size(), thread = threadIdx.x;
  const uint32_t next = (rank + 1) % size, before = (rank + size - 1) % size;
  int* mine = answers + blockIdx.x * kQuestions;
  if (thread == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
    mine[kStoresOpen] = mine[kStoresDone] = mine[kStoresRight] = 1;
  }
  all_meet();
  for (int round = 0; round < 20; ++round) {
    const uint32_t parity = round % 2;
    if (thread == 0) {
      ptxk::mbarrier_arrive_expect_tx(&barrier, (kThreads + 1) * 16);
    }
    const uint32_t first = secret(round, rank, next, thread * 4);
    const uint32_t remote_barrier = ptxk::map_to_cta(&barrier, next);
    ptxk::store_remote_async(ptxk::map_to_cta(&inbox[thread], next), make_uint4(first, first + 1, first + 2, first + 3),
                             remote_barrier);
    contracts::pause_ns(contracts::kSettled);
    all_meet();
    if (thread == 0 && !contracts::stays_open(&barrier, parity)) {
      mine[kStoresOpen] = 0;
    }
    all_meet();
    if (thread == 0) {
      ptxk::store_remote_async(ptxk::map_to_cta(&inbox[kThreads], next), make_uint4(round, rank, 0, 0), remote_barrier);
    }
    const bool done = contracts::completes(&barrier, parity);
    const uint32_t there = secret(round, before, rank, thread * 4);
    const uint4 got = inbox[thread], last = inbox[kThreads];
    const bool right = got.x == there && got.y == there + 1 && got.z == there + 2 && got.w == there + 3 &&
                       last.x == static_cast<uint32_t>(round) && last.y == before;
    const int all_right = __syncthreads_and(right);
    if (thread == 0) {
      mine[kStoresDone] &= done;
      mine[kStoresRight] &= all_right;
    }
    all_meet();
  }
}

constexpr int kStages = 3;
constexpr int kCopies = 100;
constexpr int kMostWords = 1024;  // of one copy

__device__ uint32_t sender_of(int copy, uint32_t senders) { return 1 + copy % senders; }

// Rank 0 consumes what the other ranks send in turn by bulk copies, of 16 bytes to 4 KiB, through a ring in its shared memory. By
// remote arrivals it tells the sender that its outbox is free, and gives the stage to who fills it next.
__global__ void copies(uint32_t* consumed, uint32_t* lost) {
  __shared__ alignas(128) uint32_t stages[kStages][kMostWords];
  __shared__ alignas(128) uint32_t outbox[kMostWords];
  __shared__ uint64_t full[kStages], empty[kStages], sent;
  const uint32_t rank = ptxk::cluster_rank(), senders = ptxk::cluster_size() - 1;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptxk::mbarrier_init(&full[i], 1);
      ptxk::mbarrier_init(&empty[i], kThreads);
    }
    ptxk::mbarrier_init(&sent, kThreads);
    ptxk::fence_mbarrier_init();
  }
  all_meet();
  ptxk::Ring<kStages> ring;
  bool failed = false;
  uint32_t given[kStages] = {};  // how often this sender was given each stage, so which parity it waits for
  uint32_t copies_sent = 0;
  for (int copy = 0; copy < kCopies; ++copy, ring.advance()) {
    const uint32_t sender = sender_of(copy, senders);
    const int words = 4 << copy % 9;
    if (rank == 0) {
      if (threadIdx.x == 0) {
        ptxk::mbarrier_arrive_expect_tx(&full[ring.stage], words * 4);
      }
      failed = failed || !contracts::completes(&full[ring.stage], ring.parity);
      for (int i = threadIdx.x; i < words && !failed; i += kThreads) {
        consumed[copy * kMostWords + i] = stages[ring.stage][i];
      }
      ptxk::mbarrier_arrive_remote(&sent, sender);
      if (copy + kStages < kCopies) {
        ptxk::mbarrier_arrive_remote(&empty[ring.stage], sender_of(copy + kStages, senders));
      }
    } else if (rank == sender) {
      if (copies_sent > 0) {
        failed = failed || !contracts::completes(&sent, (copies_sent - 1) % 2);
      }
      if (copy >= kStages) {
        failed = failed || !contracts::completes(&empty[ring.stage], given[ring.stage]++ % 2);
      }
      for (int i = threadIdx.x; i < words; i += kThreads) {
        outbox[i] = secret(copy, sender, 0, i);
      }
      ptxk::fence_proxy_async_shared();
      __syncthreads();
      if (threadIdx.x == 0 && !failed) {
        ptxk::bulk_copy_remote(ptxk::map_to_cta(stages[ring.stage], 0), outbox, words * 4, ptxk::map_to_cta(&full[ring.stage], 0));
      }
      ++copies_sent;
    }
  }
  if (failed) {
    atomicAdd(lost, 1u);
  }
  all_meet();
}

uint32_t expected_secret(int round, uint32_t from, uint32_t index) { return round * 1000003u + from * 65537u + index; }

void check(contracts::Checks& checks) {
  Tally stored, loaded, fenced, answered[kQuestions], copied, lost;
  const std::vector<uint32_t> zero(1, 0);
  for (const unsigned size : contracts::kClusterSizes) {
    contracts::Device<uint32_t> first(zero), second(zero);
    CUDA_MUST(ptxk::launch_cluster(stores_and_loads, dim3(size * 2), dim3(kThreads), size, 0, nullptr, first.get(), second.get()));
    CUDA_FINISH("stores_and_loads");
    stored.equal(0u, first.read()[0], [&] { return text("words, clusters of %u", size); });
    loaded.equal(0u, second.read()[0], [&] { return text("words, clusters of %u", size); });

    first.write(zero);
    second.write(zero);
    CUDA_MUST(ptxk::launch_cluster(fenced_flags, dim3(size), dim3(kThreads), size, 0, nullptr, first.get(), second.get()));
    CUDA_FINISH("fenced_flags");
    fenced.equal(0u, first.read()[0], [&] { return text("words behind their flag, clusters of %u", size); });
    fenced.equal(0u, second.read()[0], [&] { return text("flags not seen, clusters of %u", size); });

    contracts::Device<int> answers(size * kQuestions);
    CUDA_MUST(ptxk::launch_cluster(async_stores, dim3(size), dim3(kThreads), size, 0, nullptr, answers.get()));
    CUDA_FINISH("async_stores");
    const std::vector<int> said = answers.read();
    for (unsigned i = 0; i < size * kQuestions; ++i) {
      answered[i % kQuestions].equal(1, said[i], [&] { return text("rank %u of %u", i / kQuestions, size); });
    }

    contracts::Device<uint32_t> consumed(kCopies * kMostWords);
    second.write(zero);
    CUDA_MUST(ptxk::launch_cluster(copies, dim3(size), dim3(kThreads), size, 0, nullptr, consumed.get(), second.get()));
    CUDA_FINISH("copies");
    lost.equal(0u, second.read()[0], [&] { return text("threads whose wait failed, clusters of %u", size); });
    const std::vector<uint32_t> got = consumed.read();
    for (int copy = 0; copy < kCopies; ++copy) {
      for (int i = 0; i < 4 << copy % 9; ++i) {
        const uint32_t there = expected_secret(copy, 1 + copy % (size - 1), i);
        copied.equal(there, got[copy * kMostWords + i], [&] { return text("clusters of %u, copy %d word %d", size, copy, i); });
      }
    }
  }
  checks.report("dsmem-access", "everyone stores into everyone's memory: seen by its owner after cluster_sync", stored);
  checks.report("dsmem-access", "everyone loads from everyone's memory", loaded);
  checks.report("dsmem-access", "fence_cluster orders data before a flag", fenced);
  for (int i = 0; i < kQuestions; ++i) {
    checks.report("dsmem-async", kAsked[i], answered[i]);
  }
  checks.report("dsmem-async", "bulk copies of 16 bytes to 4 KiB through a ring in another block", copied);
  checks.report("dsmem-async", "... whose barriers keep both sides going", lost);
  checks.report("mbarrier-remote", "a plain remote arrival gives a stage back to asynchronous copies", lost);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
