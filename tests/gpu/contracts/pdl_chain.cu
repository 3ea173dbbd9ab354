// Programmatic dependent launch in a row: every grid may begin while those before it wait or work, reads through griddep_wait what
// the one before wrote, and overwrites what that one read (PTX ISA, "griddepcontrol").
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

constexpr int kGrids = 60;
constexpr uint64_t kWork = 30'000;  // ns of each grid: more than the host takes to enqueue one

// ns of %globaltimer.
struct Stamps {
  unsigned long long begun = ~0ull, ended = 0;
};

// out = a step on a permutation of in. Lets the next grid begin before it has read or written anything.
__global__ void link(const uint32_t* in, uint32_t* out, uint32_t grid, bool wait, Stamps* times) {
  if (threadIdx.x == 0) {
    atomicMin(&times[grid].begun, contracts::now_ns());
  }
  ptxk::griddep_launch();
  if (wait) {
    ptxk::griddep_wait();
  }
  contracts::pause_ns(kWork + (blockIdx.x + grid) % 16 * 500);
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = stepped(in[other_word(i)], grid);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(&times[grid].ended, contracts::now_ns());
  }
}

Found chain(Way way, bool wait) {
  std::vector<uint32_t> values(kDependentWords), next(kDependentWords);
  for (uint32_t i = 0; i < kDependentWords; ++i) {
    values[i] = i * 2654435761u;
  }
  contracts::Device<uint32_t> even(values), odd(kDependentWords);
  contracts::Device<Stamps> times(std::vector<Stamps>(kGrids, Stamps{}));
  cudaStream_t stream;
  CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_MUST(cudaDeviceSynchronize());
  const dim3 blocks(kDependentBlocks), threads(kDependentThreads);
  Found found;
  found.host = contracts::finish(way, stream, [&] {
    for (uint32_t grid = 0; grid < kGrids; ++grid) {
      const uint32_t* in = (grid % 2 ? odd : even).get();
      uint32_t* out = (grid % 2 ? even : odd).get();
      if (grid == 0) {
        link<<<blocks, threads, 0, stream>>>(in, out, grid, wait, times.get());
        CUDA_MUST(cudaGetLastError());
      } else {
        CUDA_MUST(ptxk::launch_dependent(link, blocks, threads, 0, stream, in, out, grid, wait, times.get()));
      }
    }
  });
  found.host /= kGrids;
  for (uint32_t grid = 0; grid < kGrids; ++grid) {
    for (uint32_t i = 0; i < kDependentWords; ++i) {
      next[i] = stepped(values[other_word(i)], grid);
    }
    values.swap(next);
  }
  const std::vector<uint32_t> got = (kGrids % 2 ? odd : even).read();
  for (uint32_t i = 0; i < kDependentWords; ++i) {
    found.words.equal(values[i], got[i], [&] { return text("word %u after %d grids", i, kGrids); });
  }
  const std::vector<Stamps> at = times.read();
  for (int grid = 1; grid < kGrids; ++grid) {
    found.leads.add(at[grid].begun, at[grid - 1].ended);
  }
  CUDA_MUST(cudaStreamDestroy(stream));
  return found;
}

void check(contracts::Checks& checks) {
  for (const Way way : {Way::dependent, Way::graph}) {
    const char* const how = contracts::kWayNames[static_cast<int>(way)];
    const std::string what = text("%d grids in a chain through two buffers, %s", kGrids, how);
    Found right = chain(way, true);
    right.record(checks, what);
    right.overlapped(right.words);
    checks.report("pdl-order", what + ": each reads all that the one before wrote", right.words, right.leads.told());
    chain(way, false).record(checks, what + ", no griddep_wait: undefined, so whatever it is");
  }
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
