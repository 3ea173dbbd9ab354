// Cache policies: hints change no data, whatever loads or stores take them (PTX ISA, "createpolicy", "Cache Eviction Priority
// Hints"); what a policy does to the hits of L2 is a figure.
#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/sm90/cache.cuh"
#include "ptxk/sm90/fence.cuh"

using contracts::Tally;
using contracts::text;
using ptxk::Swizzle;

namespace {

enum Policy { kFirst, kLast };
constexpr int kInner = contracts::kInnerBytes / sizeof(float);  // the inner coordinate of boxes

__device__ __forceinline__ uint64_t policy_of(Policy policy) {
  return policy == kFirst ? ptxk::policy_evict_first() : ptxk::policy_evict_last();
}

__global__ void loads(const uint4* from, uint4* to, int count, Policy policy) {
  const uint64_t hint = policy_of(policy);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    to[i] = ptxk::load_global_hint(from + i, hint);
  }
}

// A box of the first tensor with a hint, stored to the second with a hint; of rank 1 to 5 along one dimension of many rows.
template <int kRank>
__global__ void boxes(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, uint32_t bytes,
                      Policy policy, int* completed) {
  __shared__ alignas(128) uint32_t box[2048];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
    const uint64_t hint = policy_of(policy);
    constexpr int at = kInner;
    ptxk::mbarrier_arrive_expect_tx(&barrier, bytes);
    if constexpr (kRank == 1) {
      ptxk::tma_load_hint_1d(box, &from, &barrier, at, hint);
    } else if constexpr (kRank == 2) {
      ptxk::tma_load_hint_2d(box, &from, &barrier, at, 1, hint);
    } else if constexpr (kRank == 3) {
      ptxk::tma_load_hint_3d(box, &from, &barrier, at, 1, 1, hint);
    } else if constexpr (kRank == 4) {
      ptxk::tma_load_hint_4d(box, &from, &barrier, at, 1, 1, 1, hint);
    } else {
      ptxk::tma_load_hint_5d(box, &from, &barrier, at, 1, 1, 1, 1, hint);
    }
    *completed = contracts::completes(&barrier, 0);
    if constexpr (kRank == 1) {
      ptxk::tma_store_hint_1d(&to, box, at, hint);
    } else if constexpr (kRank == 2) {
      ptxk::tma_store_hint_2d(&to, box, at, 1, hint);
    } else if constexpr (kRank == 3) {
      ptxk::tma_store_hint_3d(&to, box, at, 1, 1, hint);
    } else if constexpr (kRank == 4) {
      ptxk::tma_store_hint_4d(&to, box, at, 1, 1, 1, hint);
    } else {
      ptxk::tma_store_hint_5d(&to, box, at, 1, 1, 1, 1, hint);
    }
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
}

// The second tensor is of the same seed, so of the same sizes; its bytes are complemented first, so that what was copied shows.
// Rows end with a chunk of 16 bytes: of a ragged one, stores write the rest too (tma_store.cu).
template <uint32_t... kBox>
void try_boxes(Tally& maps, Tally& copied) {
  constexpr int kRank = sizeof...(kBox);
  constexpr contracts::RowEnd kWhole = contracts::RowEnd::whole;
  contracts::Random first(0xCAC4E + kRank), second(0xCAC4E + kRank);
  constexpr auto kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const contracts::Tensor from = contracts::make_tensor<kFloat, Swizzle::none, kBox...>(first, maps, kWhole);
  contracts::Tensor to = contracts::make_tensor<kFloat, Swizzle::none, kBox...>(second, maps, kWhole);
  for (uint8_t& byte : to.bytes) {
    byte = static_cast<uint8_t>(~byte);
  }
  if (!from.made || !to.made) {
    return;
  }
  contracts::Device<int> completed(1);
  for (const Policy policy : {kFirst, kLast}) {
    to.upload();
    boxes<kRank><<<1, 32>>>(from.map, to.map, from.box_bytes(), policy, completed.get());
    CUDA_FINISH("boxes");
    copied.equal(1, completed.read()[0], [] { return text("%dD, completed", kRank); });
    std::vector<uint8_t> expected = to.bytes;
    contracts::Coordinates corner{{kInner, 1, 1, 1, 1}};
    to.each_byte(corner, [&](uint32_t, uint32_t, int64_t at) {
      if (at >= 0) {
        expected[at] = from.bytes[at];
      }
    });
    const std::vector<uint8_t> got = to.memory->read();
    for (size_t i = 0; i < expected.size(); ++i) {
      copied.equal(expected[i], got[i],
                   [&] { return text("%dD, evict %s, byte %zu", kRank, policy == kFirst ? "first" : "last", i); });
    }
  }
}

// Reads `count` units of 16 bytes; the last argument keeps the loads alive.
__global__ void stream(const uint4* from, size_t count, Policy policy, uint32_t* sink) {
  const uint64_t hint = policy_of(policy);
  uint32_t sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const uint4 v = ptxk::load_global_hint(from + i, hint);
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x12345678) {
    *sink = sum;
  }
}

// A region of 8 MiB is read again after 256 MiB of others were streamed past it: how long, with each policy for the region.
double reread_us(Policy kept, const contracts::Device<uint4>& region, const contracts::Device<uint4>& others, uint32_t* sink) {
  cudaEvent_t begin, end;
  CUDA_MUST(cudaEventCreate(&begin));
  CUDA_MUST(cudaEventCreate(&end));
  float best = 1e9f;
  for (int turn = 0; turn < 5; ++turn) {
    stream<<<264, 512>>>(region.get(), region.size(), kept, sink);
    stream<<<264, 512>>>(others.get(), others.size(), kFirst, sink);
    CUDA_MUST(cudaEventRecord(begin));
    stream<<<264, 512>>>(region.get(), region.size(), kept, sink);
    CUDA_MUST(cudaEventRecord(end));
    CUDA_FINISH("stream");
    float ms = 0;
    CUDA_MUST(cudaEventElapsedTime(&ms, begin, end));
    best = ms < best ? ms : best;
  }
  CUDA_MUST(cudaEventDestroy(begin));
  CUDA_MUST(cudaEventDestroy(end));
  return best * 1e3;
}

void check(contracts::Checks& checks) {
  Tally loaded, copied, maps;
  contracts::Random random(0xCA5E);
  std::vector<uint4> words(1 << 16);
  for (uint4& word : words) {
    word = make_uint4(static_cast<uint32_t>(random.next()), static_cast<uint32_t>(random.next()),
                      static_cast<uint32_t>(random.next()), static_cast<uint32_t>(random.next()));
  }
  const contracts::Device<uint4> from(words);
  contracts::Device<uint4> to(words.size());
  for (const Policy policy : {kFirst, kLast}) {
    to.poison();
    loads<<<64, 256>>>(from.get(), to.get(), static_cast<int>(words.size()), policy);
    CUDA_FINISH("loads");
    const std::vector<uint4> got = to.read();
    for (size_t i = 0; i < words.size(); ++i) {
      loaded.holds(std::memcmp(&got[i], &words[i], sizeof(uint4)) == 0, [&] { return text("16 bytes at %zu", i * 16); });
    }
  }
  checks.report("cache-policy", "load_global_hint with either policy", loaded);
  try_boxes<128>(maps, copied);
  try_boxes<32, 16>(maps, copied);
  try_boxes<16, 4, 3>(maps, copied);
  try_boxes<8, 3, 2, 4>(maps, copied);
  try_boxes<8, 2, 3, 2, 2>(maps, copied);
  checks.report("cache-policy", "TMA loads and stores with either policy, 1 to 5 dimensions", copied);
  checks.report("tma-descriptor", "maps for loads and stores with a policy", maps);

  const contracts::Device<uint4> region(8 << 16), others(256 << 16);
  contracts::Device<uint32_t> sink(1);
  checks.measured("cache-policy", "8 MiB read again after 256 MiB streamed with evict_first",
                  {{"kept_evict_last_us", reread_us(kLast, region, others, sink.get())},
                   {"kept_evict_first_us", reread_us(kFirst, region, others, sink.get())}});
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
