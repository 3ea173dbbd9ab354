// Programmatic dependent launch: a grid that started early sees, after griddep_wait, all that the grids before it wrote, and may
// then overwrite what they read (PTX ISA, "griddepcontrol"; CUDA C++ Programming Guide, "Programmatic Dependent Launch").
#include <utility>

#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/pdl.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kBlocks = 96;
constexpr int kThreads = 256;
constexpr int kWords = kBlocks * kThreads;
constexpr int kGrids = 300;

__host__ __device__ inline uint32_t place_of(uint32_t i) { return (i * 7919u + 13u) % kWords; }  // another block's word, mostly
__host__ __device__ inline uint32_t stepped(uint32_t value, uint32_t grid) { return value * 1664525u + grid; }

// out = a step on a permutation of in. Lets the next grid start before it has read or written anything; some blocks are slow.
__global__ void chain(const uint32_t* in, uint32_t* out, uint32_t grid, uint64_t* started, uint64_t* ended) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    started[grid] = contracts::now_ns();
  }
  ptxk::griddep_launch();
  ptxk::griddep_wait();
  if ((blockIdx.x + grid) % 32 == 0) {
    contracts::pause_ns(2000);
  }
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = stepped(in[place_of(i)], grid);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(reinterpret_cast<unsigned long long*>(&ended[grid]), static_cast<unsigned long long>(contracts::now_ns()));
  }
}

// Launches the chain, as dependents or one after the other, and compares with the host. Returns the times of the grids' starts and
// ends.
std::pair<std::vector<uint64_t>, std::vector<uint64_t>> run(bool dependent, Tally& chained) {
  std::vector<uint32_t> values(kWords), next(kWords);
  for (uint32_t i = 0; i < kWords; ++i) {
    values[i] = i * 2654435761u;
  }
  contracts::Device<uint32_t> even(values), odd(kWords);
  contracts::Device<uint64_t> started(kGrids), ended(std::vector<uint64_t>(kGrids, 0));
  cudaStream_t stream;
  CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_MUST(cudaDeviceSynchronize());
  for (uint32_t grid = 0; grid < kGrids; ++grid) {
    const uint32_t* in = grid % 2 ? odd.get() : even.get();
    uint32_t* out = grid % 2 ? even.get() : odd.get();
    if (dependent) {
      CUDA_MUST(ptxk::launch_dependent(chain, dim3(kBlocks), dim3(kThreads), 0, stream, in, out, grid, started.get(), ended.get()));
    } else {
      chain<<<kBlocks, kThreads, 0, stream>>>(in, out, grid, started.get(), ended.get());
      CUDA_MUST(cudaGetLastError());
    }
  }
  CUDA_FINISH("chain");
  for (uint32_t grid = 0; grid < kGrids; ++grid) {
    for (uint32_t i = 0; i < kWords; ++i) {
      next[i] = stepped(values[place_of(i)], grid);
    }
    values.swap(next);
  }
  const std::vector<uint32_t> got = (kGrids % 2 ? odd : even).read();
  for (uint32_t i = 0; i < kWords; ++i) {
    chained.equal(values[i], got[i], [&] { return text("word %u after %d grids", i, kGrids); });
  }
  CUDA_MUST(cudaStreamDestroy(stream));
  return {started.read(), ended.read()};
}

void check(contracts::Checks& checks) {
  Tally chained, plain;
  run(false, plain);
  checks.report("pdl-order", "300 grids launched plainly: griddep_wait and griddep_launch do nothing", plain);
  const auto [begin, end] = run(true, chained);
  int early = 0;
  double lead = 0;
  for (int grid = 1; grid < kGrids; ++grid) {
    early += begin[grid] < end[grid - 1];
    lead += static_cast<double>(end[grid - 1]) - static_cast<double>(begin[grid]);
  }
  checks.report("pdl-order", "300 grids in a chain through two buffers: each reads all that the one before wrote", chained,
                text("%d of %d grids started before the one ahead had ended", early, kGrids - 1));
  checks.measured("pdl-order", "start before the end of the grid ahead",
                  {{"mean_lead_ns", lead / (kGrids - 1)}, {"early_grids", static_cast<double>(early)}});
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
