// Programmatic dependent launch, two grids: the one ahead says griddep_launch at once, works long and only then writes; the one
// behind begins meanwhile and sees all of it after griddep_wait, and what was there before without (PTX ISA, "griddepcontrol").
#include "dependent.cuh"

using contracts::Found;
using contracts::kDependentBlocks;
using contracts::kDependentThreads;
using contracts::kDependentWords;
using contracts::other_word;
using contracts::stepped;
using contracts::Tally;
using contracts::text;
using contracts::Way;

namespace {

constexpr int kTrials = 40;
constexpr uint64_t kWork = 120'000;  // ns between griddep_launch and the first write: many times what a launch takes

// When the blocks of the grid ahead say griddep_launch.
enum class Says { at_once, one_late, never };

// ns of %globaltimer.
struct Times {
  unsigned long long said = 0;        // the last griddep_launch
  unsigned long long ended = 0;       // the last write of the grid ahead
  unsigned long long begun = ~0ull;   // the first thread of the dependent grid
  unsigned long long passed = ~0ull;  // its first read
};

__global__ void ahead(uint32_t* data, uint32_t trial, Says says, Times* times) {
  const bool late = says == Says::one_late && blockIdx.x == kDependentBlocks - 1;
  if (late) {
    contracts::pause_ns(kWork / 2);
  }
  if (says != Says::never) {
    if (threadIdx.x == 0) {
      atomicMax(&times->said, contracts::now_ns());
    }
    __syncthreads();
    ptxk::griddep_launch();
  }
  contracts::pause_ns(late ? kWork / 2 : kWork);
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = stepped(i, trial);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(&times->ended, contracts::now_ns());
  }
}

__global__ void behind(const uint32_t* data, uint32_t* seen, bool wait, Times* times) {
  if (threadIdx.x == 0) {
    atomicMin(&times->begun, contracts::now_ns());
  }
  if (wait) {
    ptxk::griddep_wait();
  }
  if (threadIdx.x == 0) {
    atomicMin(&times->passed, contracts::now_ns());
  }
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  seen[i] = data[other_word(i)];
}

// What the timer advances by at least.
__global__ void timer(uint64_t* step) {
  uint64_t least = ~uint64_t{0};
  for (uint64_t turn = 0, last = contracts::now_ns(); turn < 20'000; ++turn) {
    const uint64_t now = contracts::now_ns();
    least = now > last && now - last < least ? now - last : least;
    last = now;
  }
  *step = least;
}

Found pairs(Way way, Says says, bool wait) {
  contracts::Device<uint32_t> data(kDependentWords), seen(kDependentWords);
  contracts::Device<Times> times(1);
  cudaStream_t stream;
  CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Found found;
  for (uint32_t trial = 0; trial < kTrials; ++trial) {
    data.poison();  // what a grid sees that does not wait
    seen.poison();
    times.write({Times{}});
    CUDA_MUST(cudaDeviceSynchronize());
    found.host += contracts::finish(way, stream, [&] {
      ahead<<<kDependentBlocks, kDependentThreads, 0, stream>>>(data.get(), trial, says, times.get());
      CUDA_MUST(cudaGetLastError());
      if (way == Way::plain) {
        behind<<<kDependentBlocks, kDependentThreads, 0, stream>>>(data.get(), seen.get(), wait, times.get());
        CUDA_MUST(cudaGetLastError());
      } else {
        CUDA_MUST(ptxk::launch_dependent(behind, dim3(kDependentBlocks), dim3(kDependentThreads), 0, stream, data.get(), seen.get(),
                                         wait, times.get()));
      }
    });
    const Times at = times.read()[0];
    const std::vector<uint32_t> got = seen.read();
    for (uint32_t i = 0; i < kDependentWords; ++i) {
      found.words.equal(stepped(other_word(i), trial), got[i], [&] { return text("trial %u word %u", trial, i); });
    }
    found.leads.add(at.begun, at.ended);
    found.said.holds(at.begun >= at.said, [&] { return text("trial %u: began %llu ns before", trial, at.said - at.begun); });
    found.passed.holds(at.passed >= at.ended, [&] { return text("trial %u: passed %llu ns before", trial, at.ended - at.passed); });
    found.worked += says == Says::never ? 0 : static_cast<double>(at.ended - at.said) / kTrials;
  }
  found.host /= kTrials;
  CUDA_MUST(cudaStreamDestroy(stream));
  return found;
}

void early(contracts::Checks& checks, Way way, Says says, const char* when) {
  const char* const how = contracts::kWayNames[static_cast<int>(way)];
  Found found = pairs(way, says, true);
  found.record(checks, text("%s, griddep_launch %s, griddep_wait", how, when));
  found.overlapped(found.words);
  checks.report("pdl-order", text("%s, griddep_launch %s: begins early and reads all after griddep_wait", how, when), found.words,
                found.leads.told());
  checks.report("pdl-order", text("%s, griddep_launch %s: begins once every block has said it", how, when), found.said);
  checks.report("pdl-order", text("%s, griddep_launch %s: griddep_wait ends after the grid ahead", how, when), found.passed);
}

void not_early(contracts::Checks& checks, Way way, Says says, const char* what) {
  Found found = pairs(way, says, true);
  found.record(checks, what);
  found.words.equal(0, found.leads.early, [&] { return text("grids that began early: %s", found.leads.told().c_str()); });
  checks.report("pdl-order", what, found.words, found.leads.told());
}

// The wrong use: what the wait is for.
void without_wait(contracts::Checks& checks, Way way) {
  const std::string what = text("%s, no griddep_wait: reads what was there before", contracts::kWayNames[static_cast<int>(way)]);
  const Found found = pairs(way, Says::at_once, false);
  found.record(checks, what);
  Tally old;
  found.overlapped(old);
  old.holds(found.words.wrong() > 0, [&] { return text("no old word in %d trials; %s", kTrials, found.leads.told().c_str()); });
  checks.report("pdl-order", what, old, text("%llu of %llu words were old", static_cast<unsigned long long>(found.words.wrong()),
                                             static_cast<unsigned long long>(found.words.cases())));
}

void check(contracts::Checks& checks) {
  contracts::Device<uint64_t> step(1);
  timer<<<1, 1>>>(step.get());
  CUDA_FINISH("timer");
  checks.measured("pdl-order", "least step of the timer", {{"step_ns", static_cast<double>(step.read()[0])}});
  not_early(checks, Way::plain, Says::at_once, "launched plainly, griddep_launch and griddep_wait do nothing");
  not_early(checks, Way::dependent, Says::never, "launched as a dependent, no griddep_launch: begins after the end");
  early(checks, Way::dependent, Says::at_once, "at once");
  early(checks, Way::dependent, Says::one_late, "at once but in one block");
  without_wait(checks, Way::dependent);
  early(checks, Way::graph, Says::at_once, "at once");
  without_wait(checks, Way::graph);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
