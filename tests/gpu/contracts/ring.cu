// Rings of stages as kernels use them: full and empty barriers, 1 to 8 stages, filled by bulk copies or by ordinary stores.
#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/tma.cuh"

using contracts::Random;
using contracts::Tally;
using contracts::text;

namespace {

constexpr int kItems = 200;
constexpr int kWords = 128;  // of an item

// Warps 0 to 3 consume, one word a thread; warp 4 produces.
template <int kStages>
__global__ void by_copies(const uint32_t* items, uint32_t* consumed, int* failures) {
  __shared__ alignas(128) uint32_t stages[kStages][kWords];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptxk::mbarrier_init(&full[i], 1);
      ptxk::mbarrier_init(&empty[i], 4);
    }
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  ptxk::Ring<kStages> ring;
  if (threadIdx.x == 128) {
    for (int item = 0; item < kItems; ++item, ring.advance()) {
      if (!contracts::completes(&empty[ring.stage], ring.parity ^ 1)) {
        atomicAdd(failures, 1);
        break;
      }
      ptxk::mbarrier_arrive_expect_tx(&full[ring.stage], kWords * 4);
      ptxk::bulk_load(stages[ring.stage], items + item * kWords, kWords * 4, &full[ring.stage]);
    }
  } else if (threadIdx.x < 128) {
    for (int item = 0; item < kItems; ++item, ring.advance()) {
      if (!contracts::completes(&full[ring.stage], ring.parity)) {
        atomicAdd(failures, 1);
        break;
      }
      ptxk::mbarrier_wait_parity(&full[ring.stage], ring.parity);  // completed: returns at once
      consumed[item * kWords + threadIdx.x] = stages[ring.stage][threadIdx.x];
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        ptxk::mbarrier_arrive(&empty[ring.stage]);
      }
    }
  }
}

// 128 threads produce by ordinary stores, 128 consume the words of others; every thread arrives. Now and then one side is late.
template <int kStages>
__global__ void by_stores(uint32_t* consumed, int* failures) {
  __shared__ uint32_t stages[kStages][kWords];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptxk::mbarrier_init(&full[i], kWords);
      ptxk::mbarrier_init(&empty[i], kWords);
    }
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  const int place = threadIdx.x % kWords;
  const bool producer = threadIdx.x < kWords;
  ptxk::Ring<kStages> ring;
  for (int item = 0; item < kItems; ++item, ring.advance()) {
    if ((item * 7 + place / 32 + (producer ? 0 : 3)) % 16 == 0) {
      contracts::pause_ns(1000);
    }
    uint64_t* awaited = producer ? &empty[ring.stage] : &full[ring.stage];
    if (!contracts::completes(awaited, producer ? ring.parity ^ 1 : ring.parity)) {
      atomicAdd(failures, 1);
      break;
    }
    if (producer) {
      stages[ring.stage][place] = item * 1000003u + place;
      ptxk::mbarrier_arrive(&full[ring.stage]);
    } else {
      ptxk::mbarrier_wait_parity(&full[ring.stage], ring.parity);
      consumed[item * kWords + place] = stages[ring.stage][kWords - 1 - place];
      ptxk::mbarrier_arrive(&empty[ring.stage]);
    }
  }
}

struct Tallies {
  Tally copied, stored, waits;
};

template <int kStages>
void ring(Random& random, Tallies& tallies) {
  std::vector<uint32_t> items(kItems * kWords);
  for (uint32_t& word : items) {
    word = static_cast<uint32_t>(random.next());
  }
  const contracts::Device<uint32_t> source(items);
  contracts::Device<uint32_t> consumed(items.size());
  contracts::Device<int> failures(1);
  const auto no_failures = [&](const char* how) {
    const int failed = failures.read()[0];
    tallies.waits.equal(0, failed, [&] { return text("%s, %d stages: threads whose wait failed", how, kStages); });
  };
  failures.write({0});
  by_copies<kStages><<<1, 160>>>(source.get(), consumed.get(), failures.get());
  CUDA_FINISH("by_copies");
  no_failures("bulk copies");
  const std::vector<uint32_t> copied = consumed.read();
  for (size_t i = 0; i < items.size(); ++i) {
    tallies.copied.equal(items[i], copied[i],
                         [&] { return text("%d stages, item %zu word %zu", kStages, i / kWords, i % kWords); });
  }
  failures.write({0});
  consumed.poison();
  by_stores<kStages><<<1, 2 * kWords>>>(consumed.get(), failures.get());
  CUDA_FINISH("by_stores");
  no_failures("ordinary stores");
  const std::vector<uint32_t> stored = consumed.read();
  for (uint32_t i = 0; i < kItems * kWords; ++i) {
    const uint32_t expected = i / kWords * 1000003u + (kWords - 1 - i % kWords);
    tallies.stored.equal(expected, stored[i], [&] { return text("%d stages, item %u word %u", kStages, i / kWords, i % kWords); });
  }
}

void check(contracts::Checks& checks) {
  Random random(0x4149);
  Tallies tallies;
  ring<1>(random, tallies);
  ring<2>(random, tallies);
  ring<3>(random, tallies);
  ring<4>(random, tallies);
  ring<5>(random, tallies);
  ring<6>(random, tallies);
  ring<7>(random, tallies);
  ring<8>(random, tallies);
  checks.report("mbarrier-wait", "rings of 1 to 8 stages: parity and parity ^ 1 keep both sides going", tallies.waits);
  checks.report("ring-parity", "rings of 1 to 8 stages: the producer waits one parity ahead", tallies.waits);
  checks.report("ring-parity", "... and no stage is filled while it is read", tallies.copied);
  checks.report("mbarrier-expect-tx", "rings filled by bulk copies: every item once, in order", tallies.copied);
  checks.report("mbarrier-arrive", "rings filled by ordinary stores: an arrival publishes them to who waits", tallies.stored);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
