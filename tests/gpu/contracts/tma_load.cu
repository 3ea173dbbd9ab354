// TMA loads: every byte of a box lies where the model says, for one to five dimensions, all swizzles and sizes of elements.
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

constexpr int kPlaces = 6;

struct Tallies {
  Tally bytes, completion, prefetched;
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
    const std::vector<uint8_t> expected = tensor.image(corner, kShared);
    Tally& bytes = prefetch ? tallies.prefetched : tallies.bytes;
    for (int i = 0; i < kShared; ++i) {
      bytes.equal(expected[i], got[i], [&] { return tensor.where(corner) + text(", byte %d of shared memory", i); });
    }
    tallies.completion.equal(1, completed.read()[0], [&] { return tensor.where(corner) + text(", %u bytes", tensor.box_bytes()); });
  }
}

template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void boxes(Tally& maps, Random& random, Tallies& tallies) {
  constexpr uint32_t kBoxes[] = {kBox...};
  constexpr uint32_t kPitch = std::max(kBoxes[0] * ptxk::element_bytes(kType), ptxk::swizzle_span(kSwizzle));
  static_assert((kBox * ...) / kBoxes[0] * kPitch <= kShared - 1024, "leave poison behind the box");
  try_tensor(contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps), random, tallies);
}

constexpr CUtensorMapDataType kByte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr CUtensorMapDataType kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr CUtensorMapDataType kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
constexpr CUtensorMapDataType kLong = CU_TENSOR_MAP_DATA_TYPE_INT64;

void report(contracts::Checks& checks, const std::string& what, const Tallies& tallies) {
  checks.report("tma-load", what + ": bytes of shared memory, and nothing beyond the box", tallies.bytes);
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
  // Their rows lie a span apart, and the gaps keep what they held, yet the barrier takes the box's own bytes; the manuals say
  // neither.
  Tallies narrow;
  boxes<kBf16, Swizzle::b128, 32, 64>(maps, random, narrow);
  boxes<kBf16, Swizzle::b128, 8, 64>(maps, random, narrow);
  boxes<kBf16, Swizzle::b128, 48, 32>(maps, random, narrow);
  boxes<kFloat, Swizzle::b128, 16, 3, 5>(maps, random, narrow);
  boxes<kBf16, Swizzle::b64, 16, 64>(maps, random, narrow);
  boxes<kByte, Swizzle::b64, 48, 16>(maps, random, narrow);
  boxes<kBf16, Swizzle::b32, 8, 64>(maps, random, narrow);
  report(checks, "boxes narrower than the swizzle's span, rows a span apart", narrow);
  checks.report("tma-box", "rows of a box narrower than the swizzle's span lie a span apart", narrow.bytes);
  checks.report("tma-box", "a box narrower than the swizzle's span completes the barrier with its own bytes", narrow.completion);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    Tally maps;
    swizzles(checks, maps);
    ranks(checks, maps);
    narrow_boxes(checks, maps);
    checks.report("tma-descriptor", "the driver makes every legal map", maps);
  }
  return checks.status();
}
