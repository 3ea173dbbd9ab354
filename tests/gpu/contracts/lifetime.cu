// How long shared memory must live: while peers of the cluster reach into it, and while TMA reads it (CUDA C++ Programming Guide,
// "Distributed Shared Memory"; PTX ISA, "cp.async.bulk.wait_group"). What a block causes that ends too soon nobody promises, and it
// may end the CUDA context: it is tried in processes of their own and given as figures.
#include "boxes.cuh"
#include "children.hpp"
#include "meeting.cuh"
#include "ptxk/sm90/dsmem.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"

using contracts::Tally;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr uint64_t kLate = 20'000;  // ns after which guests come
constexpr int kClusters = 64;
constexpr int kLanes = 32;
constexpr unsigned kMost = 8;  // blocks of a cluster

__host__ __device__ inline uint32_t word_of(uint32_t block, uint32_t index) { return block * 100003u + index * 7u + 1u; }

// The first block of each cluster is a host without work of its own; the others come late, store into its memory and read from it.
// With kStays it waits for them in a last cluster_sync, else it ends at once.
template <bool kStays>
__global__ void guests(uint32_t* received, uint32_t* found) {
  __shared__ uint32_t inbox[kMost][kLanes], offered[kLanes];
  const uint32_t rank = ptxk::cluster_rank(), first = blockIdx.x - rank;
  offered[threadIdx.x] = word_of(first, threadIdx.x);
  contracts::all_meet();
  if (rank != 0) {
    contracts::pause_ns(kLate + rank * 500);
    ptxk::store_remote(ptxk::map_to_cta(&inbox[rank][threadIdx.x], 0), word_of(blockIdx.x, threadIdx.x));
    found[blockIdx.x * kLanes + threadIdx.x] = ptxk::load_remote(ptxk::map_to_cta(&offered[threadIdx.x], 0));
  }
  if constexpr (kStays) {
    contracts::all_meet();
    if (rank == 0) {
      for (uint32_t guest = 1; guest < ptxk::cluster_size(); ++guest) {
        received[(first + guest) * kLanes + threadIdx.x] = inbox[guest][threadIdx.x];
      }
    }
  }
}

constexpr int kLeavers = 132 * 24;
constexpr int kBoxWords = 32 * 8;
constexpr int kHeld = 96 * 1024;  // of shared memory, so that two blocks fill an SM and the next ones take over what these had

struct alignas(128) Held {
  uint32_t word[kHeld / 4];
};

// Each block stores a box from the end of its shared memory and ends, with kWaits when it was read; the next block there writes all
// of it at once.
template <bool kWaits>
__global__ void leave(const __grid_constant__ CUtensorMap map) {
  extern __shared__ uint8_t raw[];
  uint32_t (&held)[kHeld / 4] = ptxk::aligned_shared<Held>(raw).word;
  for (int i = threadIdx.x; i < kHeld / 4; i += blockDim.x) {
    held[i] = word_of(blockIdx.x, i % kBoxWords);
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptxk::tma_store_2d(&map, held + kHeld / 4 - kBoxWords, 0, blockIdx.x * 8);
    ptxk::tma_commit();
    if constexpr (kWaits) {
      ptxk::tma_wait_read<0>();
    }
  }
}

// What came of a launch: its error, and words compared afterwards.
struct Outcome {
  int error = cudaSuccess;
  Tally words;
};

template <bool kStays>
Outcome visit(unsigned size) {
  Outcome outcome;
  const unsigned blocks = kClusters * size;
  contracts::Device<uint32_t> received(blocks * kLanes), found(blocks * kLanes);
  CUDA_MUST(ptxk::launch_cluster(guests<kStays>, dim3(blocks), dim3(kLanes), size, 0, nullptr, received.get(), found.get()));
  outcome.error = cudaDeviceSynchronize();
  if (outcome.error != cudaSuccess) {
    return outcome;
  }
  const std::vector<uint32_t> stored = received.read(), loaded = found.read();
  for (uint32_t block = 0; block < blocks; ++block) {
    for (int i = 0; i < kLanes && block % size != 0; ++i) {
      const auto where = [&] { return text("clusters of %u, block %u word %d", size, block, i); };
      if constexpr (kStays) {
        outcome.words.equal(word_of(block, i), stored[block * kLanes + i], where);
      }
      outcome.words.equal(word_of(block - block % size, i), loaded[block * kLanes + i], where);
    }
  }
  return outcome;
}

template <bool kWaits>
Outcome pass_on() {
  Outcome outcome;
  constexpr uint64_t kRows = uint64_t{kLeavers} * 8;
  contracts::Device<uint32_t> memory(32 * kRows);
  CUtensorMap map;
  const CUresult made =
      ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT32, Swizzle::none, 32, 8>(&map, memory.get(), {32, kRows}, {128});
  outcome.words.equal(0, static_cast<int>(made), [] { return text("CUresult of the map"); });
  if (made != CUDA_SUCCESS) {
    return outcome;
  }
  constexpr int kBytes = ptxk::shared_bytes<Held>;
  CUDA_MUST(ptxk::allow_shared(leave<kWaits>, kBytes));
  leave<kWaits><<<kLeavers, 128, kBytes>>>(map);
  CUDA_MUST(cudaGetLastError());
  outcome.error = cudaDeviceSynchronize();
  if (outcome.error != cudaSuccess) {
    return outcome;
  }
  const std::vector<uint32_t> got = memory.read();
  for (int i = 0; i < kLeavers * kBoxWords; ++i) {
    outcome.words.equal(word_of(i / kBoxWords, i % kBoxWords), got[i],
                        [&] { return text("block %d word %d", i / kBoxWords, i % kBoxWords); });
  }
  return outcome;
}

// ---- wrong uses, each in a process of its own: this program, started with --wrong and a number ----

constexpr const char* kWrong[] = {"the host of late guests ends at once, clusters of 2", "the same, clusters of 8",
                                  "blocks end while TMA may still read from them"};

[[noreturn]] void try_wrong(int which) {
  const Outcome outcome = which == 0 ? visit<false>(2) : which == 1 ? visit<false>(8) : pass_on<false>();
  contracts::tell_parent(text("%d %llu %llu", outcome.error, static_cast<unsigned long long>(outcome.words.cases()),
                              static_cast<unsigned long long>(outcome.words.wrong())));
  contracts::leave_child();
}

void record_wrong(contracts::Checks& checks, int which) {
  const contracts::Answer answer =
      contracts::ask_child({"--wrong", std::to_string(which)}, contracts::Clock::now() + std::chrono::seconds(5));
  int error = -1;
  unsigned long long cases = 0, wrong = 0;
  const bool said = answer.fault.empty() && std::sscanf(answer.said.c_str(), "%d %llu %llu", &error, &cases, &wrong) == 3;
  checks.measured("shared-lifetime", text("%s: undefined, so whatever it is", kWrong[which]),
                  {{"cuda_error", error},
                   {"words", static_cast<double>(cases)},
                   {"wrong_words", static_cast<double>(wrong)},
                   {"processes_that_did_not_answer", !said}});
}

void judge(contracts::Checks& checks, const std::string& what, Outcome outcome) {
  const char* const name = cudaGetErrorName(static_cast<cudaError_t>(outcome.error));
  outcome.words.equal(static_cast<int>(cudaSuccess), outcome.error, [&] { return std::string(name); });
  checks.report("shared-lifetime", what, outcome.words);
}

void check(contracts::Checks& checks) {
  for (const unsigned size : contracts::kClusterSizes) {
    judge(checks, text("guests that come late, clusters of %u: cluster_sync keeps their host's memory", size), visit<true>(size));
  }
  judge(checks, "blocks that end after tma_wait_read: their stores are whole", pass_on<true>());
  for (int which = 0; which < static_cast<int>(std::size(kWrong)); ++which) {
    record_wrong(checks, which);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--wrong") == 0) {
    const int which = std::atoi(argv[2]);
    if (which >= 0 && which < static_cast<int>(std::size(kWrong))) {
      try_wrong(which);
    }
  }
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
