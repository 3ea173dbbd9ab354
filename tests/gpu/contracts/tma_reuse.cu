// After a TMA store: when shared memory may be written again, and when the writes are seen (PTX ISA, "cp.async.bulk.wait_group").
// When it may be given up: lifetime.cu.
#include "boxes.cuh"
#include "ptxk/sm90/fence.cuh"

using contracts::Tally;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kRounds = 64;
constexpr int kBoxWords = 32 * 8;

__device__ uint32_t word_of(int round, int index) { return static_cast<uint32_t>(round * 100003 + index * 7 + 1); }

// One buffer (kPending 0) or two (kPending 1), written again as soon as wait_group.read lets it: box `round` of `map` must hold
// what was there at its own issue. Without kWaits, at once.
template <int kPending, bool kWaits = true>
__global__ void reuse(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) uint32_t box[kPending + 1][kBoxWords];
  for (int round = 0; round < kRounds; ++round) {
    uint32_t* buffer = box[round % (kPending + 1)];
    for (int i = threadIdx.x; i < kBoxWords; i += blockDim.x) {
      buffer[i] = word_of(round, i);
    }
    ptxk::fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      ptxk::tma_store_2d(&map, buffer, 0, round * 8);
      ptxk::tma_commit();
      if constexpr (kWaits) {
        ptxk::tma_wait_read<kPending>();
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    ptxk::tma_wait<0>();
  }
}

// After tma_wait<0> the thread that issued reads what TMA wrote, round after round at the same place: stale lines would show.
__global__ void read_back(const __grid_constant__ CUtensorMap map, const uint32_t* written, uint32_t* wrong) {
  __shared__ alignas(128) uint32_t box[kBoxWords];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = threadIdx.x; i < kBoxWords; i += blockDim.x) {
      box[i] = word_of(round, i);
    }
    ptxk::fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      ptxk::tma_store_2d(&map, box, 0, 0);
      ptxk::tma_commit();
      ptxk::tma_wait<0>();
      uint32_t misses = 0;
      for (int i = 0; i < kBoxWords; ++i) {
        misses += written[i] != word_of(round, i);
      }
      wrong[round] = misses;
    }
    __syncthreads();
  }
}

void rounds(contracts::Checks& checks, Tally& maps) {
  constexpr uint64_t kRows = kRounds * 8;
  contracts::Device<uint32_t> memory(32 * kRows);
  CUtensorMap map;
  const CUresult made =
      ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT32, Swizzle::none, 32, 8>(&map, memory.get(), {32, kRows}, {128});
  maps.holds(made == CUDA_SUCCESS, [&] { return text("map of the rounds: CUresult %d", static_cast<int>(made)); });
  Tally kept;
  for (int pending = 0; pending < 2; ++pending) {
    memory.poison();
    if (pending) {
      reuse<1><<<1, 128>>>(map);
    } else {
      reuse<0><<<1, 128>>>(map);
    }
    CUDA_FINISH("reuse");
    const std::vector<uint32_t> got = memory.read();
    for (int i = 0; i < kRounds * kBoxWords; ++i) {
      const uint32_t expected = static_cast<uint32_t>(i / kBoxWords * 100003 + i % kBoxWords * 7 + 1);
      kept.equal(expected, got[i], [&] { return text("%d pending, round %d word %d", pending, i / kBoxWords, i % kBoxWords); });
    }
  }
  checks.report("tma-store", "shared memory written again after tma_wait_read: each store kept its own", kept);

  memory.poison();
  reuse<0, false><<<1, 128>>>(map);
  CUDA_FINISH("reuse without a wait");
  const std::vector<uint32_t> hurried = memory.read();
  int words = 0, boxes = 0;
  for (int round = 0; round < kRounds; ++round) {
    int here = 0;
    for (int i = 0; i < kBoxWords; ++i) {
      here += hurried[round * kBoxWords + i] != static_cast<uint32_t>(round * 100003 + i * 7 + 1);
    }
    words += here;
    boxes += here > 0;
  }
  checks.measured("tma-store", "shared memory written again without tma_wait_read: undefined, so whatever it is",
                  {{"boxes", kRounds}, {"boxes_not_their_own", boxes}, {"words_not_their_own", words}});

  contracts::Device<uint32_t> wrong(kRounds);
  memory.poison();
  read_back<<<1, 128>>>(map, memory.get(), wrong.get());
  CUDA_FINISH("read_back");
  Tally seen;
  const std::vector<uint32_t> misses = wrong.read();
  for (int round = 0; round < kRounds; ++round) {
    seen.equal(0u, misses[round], [&] { return text("words missed in round %d", round); });
  }
  checks.report("tma-store", "after tma_wait the issuing thread sees the writes", seen);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    Tally maps;
    rounds(checks, maps);
    checks.report("tma-descriptor", "the driver makes the map of the rounds", maps);
  }
  return checks.status();
}
