// TMA loads: every byte of a box lies where the model says, for one to five dimensions, all swizzles and sizes of elements.
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

constexpr int kShared = 40 * 1024;
constexpr int kPlaces = 6;

// Poisons shared memory, loads one box to `to` (bytes from a multiple of 1024) and gives back all of shared memory and whether the
// barrier completed with `bytes`.
template <int kRank>
__global__ void load_once(const __grid_constant__ CUtensorMap map, Coordinates corner, uint32_t to, uint32_t bytes, bool prefetch,
                          uint8_t* dump, int* completed) {
  __shared__ alignas(1024) uint32_t box[kShared / 4];
  __shared__ uint64_t barrier;
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    box[i] = contracts::kSharedPoison;
  }
  ptxk::fence_proxy_async_shared();  // ordinary stores, then TMA's to the same place
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
    if (prefetch) {
      ptxk::tma_prefetch_descriptor(&map);
      contracts::prefetch_box<kRank>(&map, corner);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptxk::mbarrier_arrive_expect_tx(&barrier, bytes);
    contracts::load_box<kRank>(reinterpret_cast<uint8_t*>(box) + to, &map, &barrier, corner);
  }
  const bool done = contracts::completes(&barrier, 0);
  if (threadIdx.x == 0) {
    *completed = done;
  }
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    reinterpret_cast<uint32_t*>(dump)[i] = box[i];
  }
}

struct Tallies {
  Tally bytes, completion, prefetched;
  Tally span_apart;  // were rows a span apart: tells which rule holds where the first fails
};

void try_tensor(const Tensor& tensor, Random& random, Tallies& tallies) {
  contracts::Device<uint8_t> dump(kShared);
  contracts::Device<int> completed(1);
  for (int place = 0; place < kPlaces && tensor.made; ++place) {
    const Coordinates corner = tensor.inside(random);
    const bool prefetch = place % 2 == 1;
    dump.poison();
    completed.poison();
    contracts::by_rank(tensor.rank, [&](auto rank) {
      load_once<decltype(rank)::value>
          <<<1, 128>>>(tensor.map, corner, 0, tensor.box_bytes(), prefetch, dump.get(), completed.get());
    });
    CUDA_FINISH("load_once");
    const std::vector<uint8_t> got = dump.read();
    const std::vector<uint8_t> packed = tensor.image(corner, tensor.width(), kShared);
    const std::vector<uint8_t> padded = tensor.image(corner, tensor.most_bytes() / tensor.rows(), kShared);
    Tally& bytes = prefetch ? tallies.prefetched : tallies.bytes;
    for (int i = 0; i < kShared; ++i) {
      bytes.equal(packed[i], got[i], [&] { return tensor.where(corner) + text(", byte %d of shared memory", i); });
      tallies.span_apart.equal(padded[i], got[i], [&] { return std::string(); });
    }
    tallies.completion.equal(1, completed.read()[0], [&] { return tensor.where(corner) + text(", %u bytes", tensor.box_bytes()); });
  }
}

// Which chunk of 16 bytes of row r of a box as wide as the span holds what the tensor has in chunk c, as readers of a tile count.
uint32_t chunk_of(Swizzle swizzle, uint32_t r, uint32_t c) {
  switch (swizzle) {
    case Swizzle::b128:
      return c ^ r % 8;
    case Swizzle::b64:
      return c ^ r / 2 % 4;
    case Swizzle::b32:
      return c ^ r / 4 % 2;
    default:
      return c;
  }
}

template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void chunks(Tally& maps, Random& random, Tally& tally) {
  const Tensor tensor = contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps);
  if (!tensor.made) {
    return;
  }
  const Coordinates corner = tensor.inside(random);
  contracts::Device<uint8_t> dump(kShared);
  contracts::Device<int> completed(1);
  load_once<2><<<1, 128>>>(tensor.map, corner, 0, tensor.box_bytes(), false, dump.get(), completed.get());
  CUDA_FINISH("load_once");
  const std::vector<uint8_t> got = dump.read();
  tensor.each_byte(corner, [&](uint32_t row, uint32_t column, int64_t from) {
    const uint32_t at = row * tensor.width() + chunk_of(kSwizzle, row, column / 16) * 16 + column % 16;
    tally.equal(tensor.bytes[from], got[at], [&] { return tensor.where(corner) + text(", row %u byte %u", row, column); });
  });
}

// Boxes that start on 128 bytes but not where the pattern starts: the pattern belongs to the address, not to the box.
template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void off_pattern(Tally& maps, Random& random, Tally& tally) {
  const Tensor tensor = contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps);
  contracts::Device<uint8_t> dump(kShared);
  contracts::Device<int> completed(1);
  for (uint32_t to = 0; to < 1024 && tensor.made; to += 128) {
    const Coordinates corner = tensor.inside(random);
    dump.poison();
    load_once<2><<<1, 128>>>(tensor.map, corner, to, tensor.box_bytes(), false, dump.get(), completed.get());
    CUDA_FINISH("load_once");
    std::vector<uint8_t> expected(kShared, contracts::kSharedPoison & 0xFF);
    tensor.each_byte(corner, [&](uint32_t row, uint32_t column, int64_t from) {
      expected[ptxk::model::swizzled(tensor.model_swizzle(), to + row * tensor.width() + column)] = tensor.bytes[from];
    });
    const std::vector<uint8_t> got = dump.read();
    for (int i = 0; i < kShared; ++i) {
      tally.equal(expected[i], got[i],
                  [&] { return tensor.where(corner) + text(", %u bytes off, byte %d of shared memory", to, i); });
    }
  }
}

template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void boxes(Tally& maps, Random& random, Tallies& tallies) {
  static_assert((kBox * ...) * ptxk::element_bytes(kType) <= kShared - 1024, "leave poison behind the box");
  try_tensor(contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps), random, tallies);
}

constexpr CUtensorMapDataType kByte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr CUtensorMapDataType kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr CUtensorMapDataType kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
constexpr CUtensorMapDataType kLong = CU_TENSOR_MAP_DATA_TYPE_INT64;

void report(contracts::Checks& checks, const std::string& what, const Tallies& tallies) {
  std::string detail = tallies.bytes.first();
  if (tallies.bytes.wrong()) {
    detail +=
        text("; with rows a span apart %llu of %llu bytes differ", static_cast<unsigned long long>(tallies.span_apart.wrong()),
             static_cast<unsigned long long>(tallies.span_apart.cases()));
  }
  checks.report("tma-load", what + ": bytes of shared memory, and nothing beyond the box", tallies.bytes.cases(),
                tallies.bytes.wrong(), detail);
  checks.report("tma-load", what + ": after a prefetch of map and box the same", tallies.prefetched);
  checks.report("tma-load", what + ": the barrier completes with the bytes of the box", tallies.completion);
}

void swizzles(contracts::Checks& checks, Tally& maps) {
  Random random(0x10AD);
  Tallies full;
  boxes<kByte, Swizzle::b128, 128, 64>(maps, random, full);
  boxes<kBf16, Swizzle::b128, 64, 64>(maps, random, full);
  boxes<kBf16, Swizzle::b128, 64, 256>(maps, random, full);
  boxes<kFloat, Swizzle::b128, 32, 61>(maps, random, full);
  boxes<kLong, Swizzle::b128, 16, 40>(maps, random, full);
  boxes<kByte, Swizzle::b64, 64, 64>(maps, random, full);
  boxes<kBf16, Swizzle::b64, 32, 67>(maps, random, full);
  boxes<kFloat, Swizzle::b64, 16, 64>(maps, random, full);
  boxes<kByte, Swizzle::b32, 32, 64>(maps, random, full);
  boxes<kBf16, Swizzle::b32, 16, 64>(maps, random, full);
  boxes<kFloat, Swizzle::b32, 8, 63>(maps, random, full);
  report(checks, "boxes as wide as the swizzle's span", full);

  Tallies plain;
  boxes<kByte, Swizzle::none, 16, 3>(maps, random, plain);
  boxes<kByte, Swizzle::none, 256, 9>(maps, random, plain);
  boxes<kBf16, Swizzle::none, 8, 128>(maps, random, plain);
  boxes<kBf16, Swizzle::none, 64, 64>(maps, random, plain);
  boxes<kBf16, Swizzle::none, 24, 5>(maps, random, plain);
  boxes<kFloat, Swizzle::none, 256, 16>(maps, random, plain);
  boxes<kLong, Swizzle::none, 2, 11>(maps, random, plain);
  report(checks, "without swizzle", plain);
}

void patterns(contracts::Checks& checks, Tally& maps) {
  Random random(0x9A77);
  Tally counted, off;
  chunks<kBf16, Swizzle::b128, 64, 64>(maps, random, counted);
  chunks<kFloat, Swizzle::b64, 16, 64>(maps, random, counted);
  chunks<kByte, Swizzle::b32, 32, 64>(maps, random, counted);
  checks.report("swizzle-chunks", "c ^ (r % 8), c ^ (r / 2 % 4), c ^ (r / 4 % 2) in boxes as wide as the span", counted);
  off_pattern<kBf16, Swizzle::b128, 64, 20>(maps, random, off);
  off_pattern<kFloat, Swizzle::b64, 16, 20>(maps, random, off);
  off_pattern<kByte, Swizzle::b32, 32, 20>(maps, random, off);
  off_pattern<kBf16, Swizzle::none, 64, 20>(maps, random, off);
  checks.report("tma-alignment", "boxes on 128 bytes, off the pattern's start: swizzled by address", off);
}

void ranks(contracts::Checks& checks, Tally& maps) {
  Random random(0x4A4C);
  Tallies one, three, four, five;
  boxes<kFloat, Swizzle::none, 64>(maps, random, one);
  boxes<kBf16, Swizzle::none, 256>(maps, random, one);
  boxes<kBf16, Swizzle::b128, 64>(maps, random, one);
  report(checks, "one dimension", one);
  boxes<kBf16, Swizzle::b128, 64, 8, 5>(maps, random, three);
  boxes<kFloat, Swizzle::none, 8, 3, 7>(maps, random, three);
  boxes<kBf16, Swizzle::b64, 32, 3, 5>(maps, random, three);
  boxes<kByte, Swizzle::b32, 32, 5, 3>(maps, random, three);
  report(checks, "three dimensions", three);
  boxes<kBf16, Swizzle::b128, 64, 4, 3, 2>(maps, random, four);
  boxes<kFloat, Swizzle::b32, 8, 3, 2, 5>(maps, random, four);
  boxes<kByte, Swizzle::none, 32, 2, 5, 3>(maps, random, four);
  report(checks, "four dimensions", four);
  boxes<kBf16, Swizzle::b128, 64, 2, 3, 2, 2>(maps, random, five);
  boxes<kBf16, Swizzle::b64, 32, 3, 1, 2, 3>(maps, random, five);
  boxes<kByte, Swizzle::none, 16, 3, 2, 2, 3>(maps, random, five);
  report(checks, "five dimensions", five);
}

void narrow_boxes(contracts::Checks& checks, Tally& maps) {
  Random random(0x4A44);
  // The model lets rows follow each other without gaps and swizzles the address; the manuals do not say it of narrow boxes.
  Tallies narrow;
  boxes<kBf16, Swizzle::b128, 32, 64>(maps, random, narrow);
  boxes<kBf16, Swizzle::b128, 8, 64>(maps, random, narrow);
  boxes<kBf16, Swizzle::b128, 48, 32>(maps, random, narrow);
  boxes<kFloat, Swizzle::b128, 16, 3, 5>(maps, random, narrow);
  boxes<kBf16, Swizzle::b64, 16, 64>(maps, random, narrow);
  boxes<kByte, Swizzle::b64, 48, 16>(maps, random, narrow);
  boxes<kBf16, Swizzle::b32, 8, 64>(maps, random, narrow);
  report(checks, "boxes narrower than the swizzle's span", narrow);
}

// What the driver refuses (CUDA driver API, cuTensorMapEncodeTiled): each rule broken alone.
void refusals(contracts::Checks& checks) {
  contracts::Device<uint8_t> memory(1 << 16);
  Tally refused;
  const auto make = [&](int offset, uint64_t columns, uint64_t rows, uint64_t stride) {
    CUtensorMap map;
    return ptxk::make_tensor_map<kBf16, Swizzle::b128, 64, 8>(&map, memory.get() + offset, {columns, rows}, {stride});
  };
  const auto expect = [&](const char* what, CUresult got, bool legal) {
    refused.holds((got == CUDA_SUCCESS) == legal, [&] { return text("%s: CUresult %d", what, static_cast<int>(got)); });
  };
  expect("aligned, stride 256", make(0, 128, 64, 256), true);
  expect("base on 16 bytes", make(16, 128, 64, 256), true);
  expect("base on 8 bytes", make(8, 128, 64, 256), false);
  expect("stride of 248 bytes", make(0, 120, 64, 248), false);
  expect("no columns", make(0, 0, 64, 256), false);
  expect("more than 2^32 rows", make(0, 128, (uint64_t{1} << 32) + 1, 256), false);
  checks.report("tma-alignment", "the driver refuses a base and strides off 16 bytes", refused);
  checks.report("tma-descriptor", "the driver refuses a base off 16 bytes, strides off 16 bytes, empty and vast sizes", refused);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    refusals(checks);
    Tally maps;
    swizzles(checks, maps);
    ranks(checks, maps);
    patterns(checks, maps);
    narrow_boxes(checks, maps);
    checks.report("tma-descriptor", "the driver makes every legal map", maps);
  }
  return checks.status();
}
