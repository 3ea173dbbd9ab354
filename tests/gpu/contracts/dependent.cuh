// Grids that may begin before the one ahead has ended, and how early they did (CUDA C++ Programming Guide, "Programmatic Dependent
// Launch and Synchronization"). Nothing promises that grids overlap, and where they do not, a grid without griddep_wait is right as
// well: a check in which no grid began early has tried nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/pdl.cuh"

namespace contracts {

constexpr int kDependentBlocks = 48;  // few enough that two grids have room
constexpr int kDependentThreads = 128;
constexpr int kDependentWords = kDependentBlocks * kDependentThreads;

__host__ __device__ inline uint32_t stepped(uint32_t value, uint32_t grid) { return value * 1664525u + grid; }
// Of another block, mostly.
__host__ __device__ inline uint32_t other_word(uint32_t i) { return (i * 7919u + 13u) % kDependentWords; }

enum class Way { plain, dependent, graph };
const char* const kWayNames[] = {"launched plainly", "launched as a dependent", "in a captured graph"};

// Enqueues, straight or by way of a graph, and waits for the end. Returns the ns that enqueueing took the host.
inline double finish(Way way, cudaStream_t stream, const std::function<void()>& enqueue) {
  using Clock = std::chrono::steady_clock;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  if (way == Way::graph) {
    CUDA_MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue();
    CUDA_MUST(cudaStreamEndCapture(stream, &graph));
    CUDA_MUST(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_MUST(cudaGraphUpload(exec, stream));
    CUDA_MUST(cudaStreamSynchronize(stream));
  }
  const Clock::time_point start = Clock::now();
  if (way == Way::graph) {
    CUDA_MUST(cudaGraphLaunch(exec, stream));
  } else {
    enqueue();
  }
  const double took = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  CUDA_MUST(cudaDeviceSynchronize());
  if (way == Way::graph) {
    CUDA_MUST(cudaGraphExecDestroy(exec));
    CUDA_MUST(cudaGraphDestroy(graph));
  }
  return took;
}

// How much earlier than the end of the grid ahead a grid began, over many; negative: later.
struct Leads {
  int count = 0, early = 0;
  double sum = 0, least = 0, most = 0;

  void add(unsigned long long begun, unsigned long long ended) {
    const double lead = static_cast<double>(ended) - static_cast<double>(begun);
    least = count ? std::min(least, lead) : lead;
    most = count ? std::max(most, lead) : lead;
    sum += lead;
    early += lead > 0;
    ++count;
  }
  double mean() const { return sum / count; }
  std::string told() const {
    return text("%d of %d grids began before the one ahead had ended, by %.0f ns on average (%.0f to %.0f)", early, count, mean(),
                least, most);
  }
};

// What one way of launching showed.
struct Found {
  Leads leads;
  Tally words;                  // right values
  Tally said;                   // nobody begins before every block ahead has said griddep_launch
  Tally passed;                 // nobody passes griddep_wait before the grid ahead has ended
  double host = 0, worked = 0;  // ns, of enqueueing a grid and of the grid ahead after its last griddep_launch

  // A case more: that something was tried.
  void overlapped(Tally& tally) const {
    tally.holds(leads.early > 0, [&] {
      return text("no grid overlapped the one ahead, so nothing was tried: %s; enqueueing took the host %.0f ns",
                  leads.told().c_str(), host);
    });
  }

  void record(Checks& checks, const std::string& what) const {
    checks.measured("pdl-order", what,
                    {{"grids", leads.count},
                     {"early_grids", leads.early},
                     {"mean_lead_ns", leads.mean()},
                     {"least_lead_ns", leads.least},
                     {"most_lead_ns", leads.most},
                     {"old_words", static_cast<double>(words.wrong())},
                     {"words", static_cast<double>(words.cases())},
                     {"host_enqueue_ns", host},
                     {"ahead_works_ns", worked}});
  }
};

}  // namespace contracts
