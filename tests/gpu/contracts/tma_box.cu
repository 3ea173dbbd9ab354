// What a tensor map may be, which boxes there are, and where a reader of shared memory finds row and column of a tile (CUDA driver
// API, cuTensorMapEncodeTiled; PTX ISA, "Swizzling Modes").
#include "load_once.cuh"

using contracts::Coordinates;
using contracts::kShared;
using contracts::load_once;
using contracts::Random;
using contracts::Tally;
using contracts::Tensor;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr CUtensorMapDataType kByte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr CUtensorMapDataType kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr CUtensorMapDataType kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;

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

// Boxes that the driver refuses (the same place); make_tensor_map does not even compile them.
void refused_boxes(contracts::Checks& checks) {
  contracts::Device<uint8_t> memory(1 << 18);
  Tally tally;
  const auto expect = [&](const char* what, Swizzle swizzle, cuuint32_t columns, cuuint32_t rows, bool legal) {
    CUtensorMap map;
    const cuuint64_t sizes[] = {256, 512}, strides[] = {512};
    const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
    const CUresult got = cuTensorMapEncodeTiled(&map, kBf16, 2, memory.get(), sizes, strides, box, steps,
                                                CU_TENSOR_MAP_INTERLEAVE_NONE, ptxk::tensor_map_swizzle(swizzle),
                                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    tally.holds((got == CUDA_SUCCESS) == legal, [&] { return text("%s: CUresult %d", what, static_cast<int>(got)); });
  };
  expect("256 rows", Swizzle::none, 64, 256, true);
  expect("256 columns", Swizzle::none, 256, 16, true);
  expect("257 columns", Swizzle::none, 257, 16, false);
  expect("257 rows", Swizzle::none, 64, 257, false);
  expect("12 columns: 24 bytes", Swizzle::none, 12, 64, false);
  expect("64 columns under 128B", Swizzle::b128, 64, 64, true);
  expect("128 columns under 128B", Swizzle::b128, 128, 64, false);
  expect("64 columns under 64B", Swizzle::b64, 64, 64, false);
  expect("32 columns under 32B", Swizzle::b32, 32, 64, false);
  checks.report("tma-box", "refused: over 256 elements, no multiple of 16 bytes, wider than the swizzle's span", tally);
}

// A tile of 128 columns as two boxes, one whole behind the other: where readers look for row r and column c.
__global__ void load_wide(const __grid_constant__ CUtensorMap map, uint16_t* dump, int* completed) {
  __shared__ alignas(1024) uint16_t tile[2 * 64 * 64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
    ptxk::mbarrier_arrive_expect_tx(&barrier, sizeof(tile));
    for (int box = 0; box < 2; ++box) {
      ptxk::tma_load_2d(tile + box * 64 * 64, &map, &barrier, 8 + box * 64, 5);
    }
  }
  __syncthreads();
  *completed = contracts::completes(&barrier, 0);
  for (int i = threadIdx.x; i < 2 * 64 * 64; i += blockDim.x) {
    dump[i] = tile[i];
  }
}

void wide_tile(contracts::Checks& checks) {
  Random random(0x31DE);
  std::vector<uint16_t> words(256 * 128);
  for (uint16_t& word : words) {
    word = static_cast<uint16_t>(random.next());
  }
  const contracts::Device<uint16_t> memory(words);
  contracts::Device<uint16_t> dump(2 * 64 * 64);
  contracts::Device<int> completed(1);
  CUtensorMap map;
  const CUresult made = ptxk::make_tensor_map<kBf16, Swizzle::b128, 64, 64>(&map, memory.get(), {256, 128}, {512});
  Tally tally;
  tally.equal(0, static_cast<int>(made), [] { return text("CUresult of the map"); });
  if (made == CUDA_SUCCESS) {
    load_wide<<<1, 128>>>(map, dump.get(), completed.get());
    CUDA_FINISH("load_wide");
    tally.equal(1, completed.read()[0], [] { return text("completed"); });
    const std::vector<uint16_t> got = dump.read();
    for (uint32_t r = 0; r < 64; ++r) {
      for (uint32_t c = 0; c < 128; ++c) {
        const uint32_t at = c / 64 * 4096 + r * 64 + chunk_of(Swizzle::b128, r, c % 64 / 8) * 8 + c % 8;
        tally.equal(words[(5 + r) * 256 + 8 + c], got[at], [&] { return text("row %u column %u", r, c); });
      }
    }
  }
  checks.report("tma-box", "128 columns as two boxes, one behind the other", tally);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    Tally maps;
    refusals(checks);
    refused_boxes(checks);
    wide_tile(checks);
    patterns(checks, maps);
    checks.report("tma-descriptor", "the driver makes every legal map for patterns", maps);
  }
  return checks.status();
}
