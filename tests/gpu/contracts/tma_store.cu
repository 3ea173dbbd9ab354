// TMA stores and reductions: every byte of the tensor and of the gaps and guards around it; when shared memory may be reused and
// when the writes are seen (PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "cp.async.bulk.wait_group").
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/sm90/fence.cuh"

using contracts::Coordinates;
using contracts::Random;
using contracts::Tally;
using contracts::Tensor;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kShared = 24 * 1024;
constexpr int kAdders = 8;  // blocks that add to the same box

// Lays `image` into shared memory with ordinary stores and stores or adds it as one box.
template <int kRank>
__global__ void store_once(const __grid_constant__ CUtensorMap map, Coordinates corner, const uint8_t* image, bool add) {
  __shared__ alignas(1024) uint32_t box[kShared / 4];
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    box[i] = reinterpret_cast<const uint32_t*>(image)[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (add) {
      contracts::add_box<kRank>(&map, box, corner);
    } else {
      contracts::store_box<kRank>(&map, box, corner);
    }
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
}

std::vector<Coordinates> places(const Tensor& tensor, Random& random) {
  std::vector<Coordinates> all{tensor.inside(random), tensor.inside(random)};
  for (int d = 0; d < tensor.rank; ++d) {
    const int size = static_cast<int>(tensor.sizes[d]), box = static_cast<int>(tensor.box[d]);
    for (const int at : {-box, 1 - box, -1, size - box + 1, size - 1, size}) {
      Coordinates corner = tensor.inside(random);
      corner.at[d] = at;
      all.push_back(corner);
    }
  }
  return all;
}

// A box of `value(i)` for its i-th byte, stored over the edges; then the whole allocation is compared.
template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void stores(Random& random, Tally& maps, Tally& written) {
  static_assert((kBox * ...) * ptxk::element_bytes(kType) <= kShared, "a box fits");
  Tensor tensor = contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps);
  if (!tensor.made) {
    return;
  }
  contracts::Device<uint8_t> image(kShared);
  for (const Coordinates& corner : places(tensor, random)) {
    std::vector<uint8_t> shared(kShared);
    for (uint8_t& byte : shared) {
      byte = static_cast<uint8_t>(random.next());
    }
    image.write(shared);
    tensor.upload();
    store_once<sizeof...(kBox)><<<1, 128>>>(tensor.map, corner, image.get(), false);
    CUDA_FINISH("store_once");
    std::vector<uint8_t> expected = tensor.bytes;
    tensor.each_byte(corner, [&](uint32_t row, uint32_t column, int64_t to) {
      if (to >= 0) {
        expected[to] = shared[ptxk::model::box_byte(tensor.model_swizzle(), tensor.width(), row, column)];
      }
    });
    const std::vector<uint8_t> got = tensor.memory->read();
    for (size_t i = 0; i < expected.size(); ++i) {
      written.equal(expected[i], got[i], [&] { return tensor.where(corner) + text(", byte %zu of the allocation", i); });
    }
  }
}

template <typename T>
T encoded(int value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Small integers in the map's type, to which kAdders blocks add the same box: exact in every type and order.
template <typename T, CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void additions(Random& random, Tally& maps, Tally& added) {
  static_assert(sizeof(T) == ptxk::element_bytes(kType), "the map's type");
  Tensor tensor = contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps);
  std::vector<int> before((tensor.bytes.size() - 2 * contracts::kGuard) / sizeof(T));
  for (size_t i = 0; i < before.size(); ++i) {
    before[i] = random.between(0, 15);
    const T value = encoded<T>(before[i]);
    std::memcpy(&tensor.bytes[contracts::kGuard + i * sizeof(T)], &value, sizeof(T));
  }
  if (!tensor.made) {
    return;
  }
  contracts::Device<uint8_t> image(kShared);
  for (const Coordinates& corner : places(tensor, random)) {
    std::vector<uint8_t> shared(kShared);
    std::vector<uint8_t> expected = tensor.bytes;
    tensor.each_byte(corner, [&](uint32_t row, uint32_t column, int64_t to) {
      if (column % sizeof(T) != 0) {
        return;
      }
      const int addend = random.between(0, 20);
      const T value = encoded<T>(addend);
      std::memcpy(&shared[ptxk::model::box_byte(tensor.model_swizzle(), tensor.width(), row, column)], &value, sizeof(T));
      if (to >= 0) {
        const T sum = encoded<T>(before[(to - contracts::kGuard) / sizeof(T)] + kAdders * addend);
        std::memcpy(&expected[to], &sum, sizeof(T));
      }
    });
    image.write(shared);
    tensor.upload();
    store_once<sizeof...(kBox)><<<kAdders, 128>>>(tensor.map, corner, image.get(), true);
    CUDA_FINISH("store_once, adding");
    const std::vector<uint8_t> got = tensor.memory->read();
    for (size_t i = 0; i < expected.size(); ++i) {
      added.equal(expected[i], got[i], [&] { return tensor.where(corner) + text(", byte %zu of the allocation", i); });
    }
  }
}

constexpr int kRounds = 64;
constexpr int kBoxWords = 32 * 8;

__device__ uint32_t word_of(int round, int index) { return static_cast<uint32_t>(round * 100003 + index * 7 + 1); }

// One buffer (kPending 0) or two (kPending 1), written again as soon as wait_group.read lets it: box `round` of `map` must hold
// what was there at its own issue.
template <int kPending>
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
      ptxk::tma_wait_read<kPending>();
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

void check(contracts::Checks& checks) {
  Random random(0x5704E);
  Tally maps, written, added;
  stores<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 64>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 32>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::b64, 16, 24>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_UINT8, Swizzle::b32, 32, 48>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::none, 64, 16>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 5, 6>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b32, 16, 3, 4, 3>(random, maps, written);
  stores<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 8, 3, 2, 3, 2>(random, maps, written);
  checks.report("tma-store", "boxes across every edge, 1 to 5 dimensions: what lies outside and all around stays", written);

  additions<int32_t, CU_TENSOR_MAP_DATA_TYPE_INT32, Swizzle::none, 32>(random, maps, added);
  additions<float, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 32, 16>(random, maps, added);
  additions<__nv_bfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 16>(random, maps, added);
  additions<__half, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, Swizzle::b64, 32, 4, 3>(random, maps, added);
  additions<float, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::b128, 32, 2, 3, 2>(random, maps, added);
  additions<int32_t, CU_TENSOR_MAP_DATA_TYPE_INT32, Swizzle::none, 8, 2, 3, 2, 2>(random, maps, added);
  checks.report("tma-store", "eight blocks add to one box, across every edge, in s32, f32, bf16 and f16", added);

  rounds(checks, maps);
  checks.report("tma-descriptor", "the driver makes every legal map for stores", maps);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
