// mbarrier against its state machine: random schedules, fresh barriers, counts up to the limit, invalidation and reuse (PTX ISA,
// "Parallel Synchronization and Communication Instructions: mbarrier").
#include <algorithm>

#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/model/mbarrier.hpp"

using contracts::Random;
using contracts::Tally;
using contracts::text;
using ptxk::model::Mbarrier;

namespace {

constexpr int kSchedules = 264;  // a block each
constexpr int kSteps = 48;

enum class Act : int { arrive, expect, arrive_expect, complete };
const char* const kActs[] = {"arrive", "expect", "arrive_expect", "complete"};

struct Step {
  Act act;
  int amount;  // bytes
};

struct Schedule {
  int arrivals;
  Step steps[kSteps];
};

// Bytes that come, without a copy (PTX ISA, "mbarrier.complete_tx"): the pack has no wrapper, copies do this.
__device__ void complete_tx(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(ptxk::shared_address(barrier)), "r"(bytes)
               : "memory");
}

// One thread goes through its block's schedule; after each step, what try_wait says to parity 0 (bit 0) and 1 (bit 1).
__global__ void run(const Schedule* schedules, int* said) {
  __shared__ uint64_t barrier;
  const Schedule& schedule = schedules[blockIdx.x];
  ptxk::mbarrier_init(&barrier, schedule.arrivals);
  for (int i = 0; i < kSteps; ++i) {
    const Step step = schedule.steps[i];
    switch (step.act) {
      case Act::arrive:
        ptxk::mbarrier_arrive(&barrier);
        break;
      case Act::expect:
        ptxk::mbarrier_expect_tx(&barrier, step.amount);
        break;
      case Act::arrive_expect:
        ptxk::mbarrier_arrive_expect_tx(&barrier, step.amount);
        break;
      case Act::complete:
        complete_tx(&barrier, step.amount);
        break;
    }
    const int even = ptxk::mbarrier_try_wait_parity(&barrier, 0);
    const int odd = ptxk::mbarrier_try_wait_parity(&barrier, 1);
    said[blockIdx.x * kSteps + i] = even | odd << 1;
  }
}

enum class Kind { arrivals, bytes, early_bytes };

void apply(Mbarrier& barrier, Step step) {
  switch (step.act) {
    case Act::arrive:
      return barrier.arrive();
    case Act::expect:
      return barrier.expect(step.amount);
    case Act::arrive_expect:
      return barrier.arrive_expect(step.amount);
    case Act::complete:
      return barrier.complete(step.amount);
  }
}

int answer(const Mbarrier& barrier) { return (barrier.passed(0) ? 1 : 0) | (barrier.passed(1) ? 2 : 0); }

// A legal next step. Only with early bytes may all have arrived while more bytes came than were expected.
Step next_step(const Mbarrier& barrier, Kind kind, Random& random) {
  for (;;) {
    Step step{static_cast<Act>(kind == Kind::arrivals ? 0 : random.between(0, 3)), 0};
    if (step.act != Act::arrive) {
      step.amount = random.between(0, 19) == 0 ? random.between(1 << 18, 1 << 19) : random.between(1, 4096);
    }
    const int64_t open = barrier.transaction();
    if (barrier.pending() == 0 && random.between(0, 2) > 0) {  // often the step that completes the phase
      step = open > 0 ? Step{Act::complete, static_cast<int>(open)} : Step{Act::expect, static_cast<int>(-open)};
    }
    Mbarrier after = barrier;
    apply(after, step);
    if (after.legal() && (kind == Kind::early_bytes || after.pending() > 0 || after.transaction() >= 0)) {
      return step;
    }
  }
}

void schedules(contracts::Checks& checks, Kind kind, const char* contract, const char* what) {
  Random random(0x3BA4 + static_cast<int>(kind));
  std::vector<Schedule> all(kSchedules);
  std::vector<int> expected(kSchedules * kSteps);
  uint64_t phases = 0;
  for (int s = 0; s < kSchedules; ++s) {
    all[s].arrivals = random.between(1, 8);
    Mbarrier barrier(all[s].arrivals);
    for (int i = 0; i < kSteps; ++i) {
      all[s].steps[i] = next_step(barrier, kind, random);
      apply(barrier, all[s].steps[i]);
      expected[s * kSteps + i] = answer(barrier);
    }
    phases += barrier.phase();
  }
  const std::string detail = text("%llu phases completed", static_cast<unsigned long long>(phases));
  if (!checks.on_device()) {
    checks.report(contract, what, kSchedules, phases < kSchedules, detail);
    return;
  }
  contracts::Device<Schedule> given(all);
  contracts::Device<int> said(kSchedules * kSteps);
  run<<<kSchedules, 1>>>(given.get(), said.get());
  CUDA_FINISH("run of schedules");
  const std::vector<int> got = said.read();
  Tally tally;
  for (int i = 0; i < kSchedules * kSteps; ++i) {
    const auto where = [&] {
      const Schedule& schedule = all[i / kSteps];
      std::string story = text("%d arrivals", schedule.arrivals);
      for (int k = std::max(0, i % kSteps - 5); k <= i % kSteps; ++k) {
        story += text(", %s %d", kActs[static_cast<int>(schedule.steps[k].act)], schedule.steps[k].amount);
      }
      return story + text(" (schedule %d step %d; bits: parity 0, parity 1)", i / kSteps, i % kSteps);
    };
    tally.equal(expected[i], got[i], where);
  }
  checks.report(contract, what, tally, detail);
}

enum Question { kFreshOdd, kFreshEven, kOneMissing, kAllArrived, kPlainData, kReusedFresh, kReusedOpen, kReusedDone, kQuestions };
const char* const kAsked[kQuestions] = {"parity 1 of a fresh barrier passes",
                                        "parity 0 of a fresh barrier does not",
                                        "2^20 - 2 of 2^20 - 1 arrivals: not completed",
                                        "2^20 - 1 arrivals: completed",
                                        "after invalidation the memory holds ordinary data",
                                        "initialised again: parity 1 passes",
                                        "initialised again: the new count holds",
                                        "initialised again: completes with the new count"};

__global__ void life(int* answers) {
  __shared__ uint64_t barrier;
  constexpr uint32_t kMost = static_cast<uint32_t>(Mbarrier::kMost);
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, kMost);
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    answers[kFreshOdd] = ptxk::mbarrier_try_wait_parity(&barrier, 1);
    answers[kFreshEven] = contracts::stays_open(&barrier, 0);
  }
  __syncthreads();
  // 1024 threads, 1024 arrivals each, but two fewer by the first: 2^20 - 2.
  for (int i = threadIdx.x == 0 ? 2 : 0; i < 1024; ++i) {
    ptxk::mbarrier_arrive(&barrier);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    answers[kOneMissing] = contracts::stays_open(&barrier, 0);
    ptxk::mbarrier_arrive(&barrier);
  }
  const bool done = contracts::completes(&barrier, 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    answers[kAllArrived] = done;
    ptxk::mbarrier_invalidate(&barrier);
    volatile uint64_t* plain = &barrier;
    *plain = 0x0123456789ABCDEFull;
    answers[kPlainData] = *plain == 0x0123456789ABCDEFull;
    ptxk::mbarrier_init(&barrier, 2);
    answers[kReusedFresh] = ptxk::mbarrier_try_wait_parity(&barrier, 1);
    ptxk::mbarrier_arrive(&barrier);
    answers[kReusedOpen] = contracts::stays_open(&barrier, 0);
    ptxk::mbarrier_arrive(&barrier);
    answers[kReusedDone] = contracts::completes(&barrier, 0);
  }
}

void lives(contracts::Checks& checks) {
  contracts::Device<int> answers(kQuestions);
  life<<<1, 1024>>>(answers.get());
  CUDA_FINISH("life");
  const std::vector<int> said = answers.read();
  const char* const contract[kQuestions] = {"mbarrier-wait", "mbarrier-wait", "mbarrier-arrive", "mbarrier-arrive",
                                            "mbarrier-init", "mbarrier-init", "mbarrier-init",   "mbarrier-init"};
  for (int i = 0; i < kQuestions; ++i) {
    checks.report(contract[i], kAsked[i], 1, said[i] != 1, text("said %d", said[i]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  schedules(checks, Kind::arrivals, "mbarrier-arrive", "random arrivals: both parities after each as the model says");
  schedules(checks, Kind::bytes, "mbarrier-expect-tx",
            "random arrivals and bytes, bytes before their expectation while an arrival is missing");
  schedules(checks, Kind::early_bytes, "mbarrier-expect-tx",
            "the same, and bytes too many after the last arrival: completed by an expectation");
  if (checks.on_device()) {
    lives(checks);
  }
  return checks.status();
}
