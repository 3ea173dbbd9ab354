// Boxes across the edges of a tensor: zeros for what lies outside, and the bytes of the whole box on the barrier (PTX ISA,
// "Tensors: Out-of-bound access", "cp.async.bulk.tensor").
#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/model/mbarrier.hpp"
#include "ptxk/sm90/fence.cuh"

using contracts::Coordinates;
using contracts::Random;
using contracts::Tally;
using contracts::Tensor;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kShared = 24 * 1024;
constexpr uint32_t kExtra = 16;  // bytes by which an expectation is wrong: the least that a bulk copy moves

enum Answer { kExact, kNextOpen, kMoreOpen, kMoreMadeUp, kFewerHeld, kFewerOpen, kFewerMadeUp, kAnswers };
const char* const kQuestions[kAnswers] = {"the box's bytes complete the phase",
                                          "nothing is left over for the next phase",
                                          "16 bytes more than the box's: not completed",
                                          "... until 16 more come",
                                          "16 bytes fewer, an arrival missing: not completed",
                                          "16 bytes fewer, all arrived: not completed",
                                          "... until 16 more are expected"};

// One load with the right expectation, one with too much, one with too little.
template <int kRank>
__global__ void count_bytes(const __grid_constant__ CUtensorMap map, Coordinates corner, uint32_t bytes, const uint8_t* spare,
                            uint8_t* dump, int* answers) {
  __shared__ alignas(1024) uint32_t box[kShared / 4];
  __shared__ alignas(16) uint8_t made_up[kExtra];
  __shared__ uint64_t barriers[3];
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    box[i] = contracts::kSharedPoison;
  }
  ptxk::fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barriers[0], 1);
    ptxk::mbarrier_init(&barriers[1], 1);
    ptxk::mbarrier_init(&barriers[2], 2);
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    uint64_t* exact = &barriers[0];
    ptxk::mbarrier_arrive_expect_tx(exact, bytes);
    contracts::load_box<kRank>(box, &map, exact, corner);
    answers[kExact] = contracts::completes(exact, 0);
    answers[kNextOpen] = contracts::stays_open(exact, 1);

    uint64_t* more = &barriers[1];
    ptxk::mbarrier_arrive_expect_tx(more, bytes + kExtra);
    contracts::load_box<kRank>(box, &map, more, corner);
    contracts::pause_ns(contracts::kSettled);
    answers[kMoreOpen] = contracts::stays_open(more, 0);
    ptxk::bulk_load(made_up, spare, kExtra, more);
    answers[kMoreMadeUp] = contracts::completes(more, 0);

    // The second arrival waits until the bytes have come, else they could pass through the wrong sum on their way.
    uint64_t* fewer = &barriers[2];
    ptxk::mbarrier_arrive_expect_tx(fewer, bytes - kExtra);
    contracts::load_box<kRank>(box, &map, fewer, corner);
    contracts::pause_ns(contracts::kSettled);
    answers[kFewerHeld] = contracts::stays_open(fewer, 0);
    ptxk::mbarrier_arrive(fewer);
    answers[kFewerOpen] = contracts::stays_open(fewer, 0);
    ptxk::mbarrier_expect_tx(fewer, kExtra);
    answers[kFewerMadeUp] = contracts::completes(fewer, 0);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    reinterpret_cast<uint32_t*>(dump)[i] = box[i];
  }
}

// What the model says to the same seven questions.
void check_model(contracts::Checks& checks) {
  constexpr int64_t kBox = 8192;
  ptxk::model::Mbarrier exact(1), more(1), fewer(2);
  Tally tally;
  const auto hold = [&](Answer question, bool condition) {
    tally.holds(condition, [&] { return text("%s", kQuestions[question]); });
  };
  exact.arrive_expect(kBox);
  exact.complete(kBox);
  hold(kExact, exact.passed(0));
  hold(kNextOpen, !exact.passed(1));
  more.arrive_expect(kBox + kExtra);
  more.complete(kBox);
  hold(kMoreOpen, !more.passed(0));
  more.complete(kExtra);
  hold(kMoreMadeUp, more.passed(0));
  fewer.arrive_expect(kBox - kExtra);
  fewer.complete(kBox);
  hold(kFewerHeld, !fewer.passed(0));
  fewer.arrive();
  hold(kFewerOpen, !fewer.passed(0));
  fewer.expect(kExtra);
  hold(kFewerMadeUp, fewer.passed(0));
  checks.report("tma-bounds", "the model's answers to what is asked of the barrier", tally);
}

// Boxes across, at, and beyond each edge of each dimension alone, then of several at once.
std::vector<Coordinates> places(const Tensor& tensor, Random& random) {
  std::vector<Coordinates> all;
  const auto edges = [&](int d) {
    const int size = static_cast<int>(tensor.sizes[d]), box = static_cast<int>(tensor.box[d]), step = tensor.step(d);
    const auto legal = [&](int at) { return tensor.legal(d, at); };
    return std::vector<int>{step - box,        legal(-(box / 2) - 1),    -step,           0,
                            legal(size - box), legal(size - box) + step, legal(size - 1), legal(size + step - 1),
                            -box,              legal(size + 1000),       legal(-5000)};
  };
  for (int d = 0; d < tensor.rank; ++d) {
    for (const int at : edges(d)) {
      Coordinates corner = tensor.inside(random);
      corner.at[d] = at;
      all.push_back(corner);
    }
  }
  for (int i = 0; i < 12; ++i) {
    Coordinates corner{};
    for (int d = 0; d < tensor.rank; ++d) {
      const std::vector<int> some = edges(d);
      corner.at[d] = some[random.between(0, 7)];
    }
    all.push_back(corner);
  }
  return all;
}

struct Tallies {
  Tally bytes;
  Tally answers[kAnswers];
};

template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
void boxes(Random& random, Tally& maps, Tallies& tallies) {
  static_assert((kBox * ...) * ptxk::element_bytes(kType) <= kShared - 1024, "leave poison behind the box");
  const Tensor tensor = contracts::make_tensor<kType, kSwizzle, kBox...>(random, maps);
  contracts::Device<uint8_t> dump(kShared), spare(kExtra);
  contracts::Device<int> answers(kAnswers);
  if (!tensor.made) {
    return;
  }
  for (const Coordinates& corner : places(tensor, random)) {
    dump.poison();
    answers.poison();
    count_bytes<sizeof...(kBox)><<<1, 128>>>(tensor.map, corner, tensor.box_bytes(), spare.get(), dump.get(), answers.get());
    CUDA_FINISH("count_bytes");
    const std::vector<uint8_t> got = dump.read(), expected = tensor.image(corner, kShared);
    for (int i = 0; i < kShared; ++i) {
      tallies.bytes.equal(expected[i], got[i], [&] { return tensor.where(corner) + text(", byte %d of shared memory", i); });
    }
    const std::vector<int> said = answers.read();
    for (int i = 0; i < kAnswers; ++i) {
      tallies.answers[i].equal(1, said[i], [&] { return tensor.where(corner); });
    }
  }
}

void check_device(contracts::Checks& checks) {
  Random random(0xB0DE);
  Tally maps;
  Tallies tallies;
  boxes<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 64>(random, maps, tallies);
  boxes<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 32>(random, maps, tallies);
  boxes<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::b64, 16, 24>(random, maps, tallies);
  boxes<CU_TENSOR_MAP_DATA_TYPE_UINT8, Swizzle::none, 128, 16>(random, maps, tallies);
  boxes<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 5, 6>(random, maps, tallies);
  boxes<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b32, 16, 3, 4, 3>(random, maps, tallies);
  boxes<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 8, 3, 2, 3, 2>(random, maps, tallies);
  checks.report("tma-bounds", "zeros for what lies outside, negative coordinates too", tallies.bytes);
  for (int i = 0; i < kAnswers; ++i) {
    checks.report("tma-bounds", kQuestions[i], tallies.answers[i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  check_model(checks);
  if (checks.on_device()) {
    check_device(checks);
  }
  return checks.status();
}
