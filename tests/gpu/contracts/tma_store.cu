// TMA stores and reductions: every byte of the tensor and of the gaps and guards around it (PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "cp.async.bulk.wait_group").
#include <cuda_bf16.h>
#include <cuda_fp16.h>

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
    const int size = static_cast<int>(tensor.sizes[d]), box = static_cast<int>(tensor.box[d]), step = tensor.step(d);
    const auto legal = [&](int at) { return tensor.legal(d, at); };
    for (const int at : {-box, step - box, -step, legal(size - box) + step, legal(size - 1), legal(size + step - 1)}) {
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
