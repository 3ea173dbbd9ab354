// setmaxnreg: registers move between warpgroups, the ones that got more keep over 168 values alive without spilling, and the sum
// rule holds (PTX ISA, "setmaxnreg"; CUDA C++ Programming Guide, "Launch Bounds").
#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/sm90/barrier.cuh"
#include "ptxk/sm90/registers.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kLive = 200;  // values of a consumer's thread; 168 registers are there at entry
constexpr int kTurns = 40;

static_assert(ptxk::registers_fit<384, 40, 232, 232>(), "504 in all");
static_assert(!ptxk::registers_fit<384, 40, 240, 232>(), "512 are too many");
static_assert(ptxk::registers_fit<256, 240, 240>(), "255 each");

__host__ __device__ inline uint32_t mixed(uint32_t value, uint32_t neighbour) {
  return value * 1664525u + (neighbour ^ neighbour >> 13);
}
__host__ __device__ inline uint32_t seeded(int block, int thread, int index) {
  return static_cast<uint32_t>(block * 7919 + thread * 31 + index) * 2654435761u;
}

// Warpgroup 0 gives back all but 40 registers, some time after its start; 1 and 2 then get 232 and mix 200 values with each other.
// `sums` gets a digest of each consumer thread's values; `given` and `got` when warpgroup 0 gave, and the others had received.
__global__ void __launch_bounds__(384, 1) move_registers(uint32_t* sums, uint64_t* given, uint64_t* got) {
  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    contracts::pause_ns(30'000);
    if (threadIdx.x == 0) {
      given[blockIdx.x] = contracts::now_ns();
    }
    __syncwarp();
    ptxk::setmaxnreg_dec<40>();
  } else {
    ptxk::setmaxnreg_inc<232>();
    if (threadIdx.x % 128 == 0) {
      got[blockIdx.x * 2 + warpgroup - 1] = contracts::now_ns();
    }
    uint32_t value[kLive];
#pragma unroll
    for (int i = 0; i < kLive; ++i) {
      value[i] = seeded(blockIdx.x, threadIdx.x, i);
    }
#pragma unroll 1
    for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
      for (int i = 0; i < kLive; ++i) {
        value[i] = mixed(value[i], value[(i + 7) % kLive]);
      }
    }
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kLive; ++i) {
      sum = sum * 31 + value[i];
    }
    sums[blockIdx.x * 256 + threadIdx.x - 128] = sum;
  }
}

uint32_t expected_sum(int block, int thread) {
  uint32_t value[kLive];
  for (int i = 0; i < kLive; ++i) {
    value[i] = seeded(block, thread, i);
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < kLive; ++i) {
      value[i] = mixed(value[i], value[(i + 7) % kLive]);
    }
  }
  uint32_t sum = 0;
  for (const uint32_t one : value) {
    sum = sum * 31 + one;
  }
  return sum;
}

// Back and forth: three warpgroups keep 128 registers of the 168 at entry, and in turn one has 232: what is free is enough for one.
// Between two changes a warpgroup meets.
__global__ void __launch_bounds__(384, 1) back_and_forth(uint32_t* turns) {
  const int warpgroup = threadIdx.x / 128;
  ptxk::setmaxnreg_dec<128>();
  __syncthreads();
  uint32_t count = 0;
#pragma unroll 1
  for (int turn = 0; turn < kTurns * 3; ++turn) {
    if (turn % 3 == warpgroup) {
      ptxk::setmaxnreg_inc<232>();
      ++count;
      ptxk::named_barrier_sync<128>(1 + warpgroup);
      ptxk::setmaxnreg_dec<128>();
    }
    __syncthreads();
  }
  turns[threadIdx.x] = count;
}

// kMost: what the second warpgroup asks for, 0 for nothing.
template <int kThreads, int kMost = 0>
__global__ void __launch_bounds__(kThreads, 1) at_entry(uint32_t* out) {
  if (threadIdx.x < 128) {
    ptxk::setmaxnreg_dec<24>();
  } else if constexpr (kMost != 0) {
    ptxk::setmaxnreg_inc<kMost>();
  }
  out[threadIdx.x] = threadIdx.x;
}

template <typename Kernel>
cudaFuncAttributes attributes(Kernel kernel) {
  cudaFuncAttributes found{};
  CUDA_MUST(cudaFuncGetAttributes(&found, kernel));
  return found;
}

// ptxas gives launch_registers at entry, or what the largest setmaxnreg_inc asks for if that is less.
template <int kThreads, int kMost = 0>
void count_at_entry(Tally& entry) {
  const int launched = ptxk::launch_registers(kThreads), registers = attributes(at_entry<kThreads, kMost>).numRegs;
  entry.equal(kMost != 0 && kMost < launched ? kMost : launched, registers,
              [] { return text("registers at entry of %d threads, setmaxnreg_inc<%d>", kThreads, kMost); });
}

void check(contracts::Checks& checks) {
  constexpr int kBlocks = 132;
  const cudaFuncAttributes built = attributes(move_registers);
  const int forth_registers = attributes(back_and_forth).numRegs;
  checks.report("setmaxnreg-budget", "200 live values after setmaxnreg_inc<232>: no local memory", 1, built.localSizeBytes != 0,
                text("%zu bytes of local memory, %d registers at entry", static_cast<size_t>(built.localSizeBytes), built.numRegs));
  Tally entry;
  entry.equal(ptxk::launch_registers(384), built.numRegs, [] { return text("registers at entry of 384 threads"); });
  entry.equal(ptxk::launch_registers(384), forth_registers, [] { return text("registers at entry, back and forth"); });
  count_at_entry<128>(entry);
  count_at_entry<256>(entry);
  count_at_entry<384>(entry);
  count_at_entry<512>(entry);
  count_at_entry<256, 224>(entry);
  count_at_entry<256, 240>(entry);
  count_at_entry<384, 232>(entry);
  checks.report("setmaxnreg-budget", "launch_registers is the most at entry: fewer where the largest setmaxnreg_inc asks for fewer",
                entry);

  contracts::Device<uint32_t> sums(kBlocks * 256);
  contracts::Device<uint64_t> given(kBlocks), got(kBlocks * 2);
  move_registers<<<kBlocks, 384>>>(sums.get(), given.get(), got.get());
  CUDA_FINISH("move_registers");
  const std::vector<uint32_t> computed = sums.read();
  Tally values, order;
  for (int i = 0; i < kBlocks * 256; ++i) {
    values.equal(expected_sum(i / 256, i % 256 + 128), computed[i],
                 [&] { return text("block %d thread %d", i / 256, i % 256 + 128); });
  }
  const std::vector<uint64_t> gave = given.read(), received = got.read();
  for (int i = 0; i < kBlocks * 2; ++i) {
    order.holds(received[i] + 10'000 >= gave[i / 2], [&] {
      return text("block %d: warpgroup %d had 232 registers %.1f us before any were given back", i / 2, i % 2 + 1,
                  static_cast<double>(gave[i / 2] - received[i]) / 1e3);
    });
  }
  checks.report("setmaxnreg-budget", "right values in 232 registers a thread", values);
  checks.report("setmaxnreg-budget", "setmaxnreg_inc waits until others gave registers back", order);

  contracts::Device<uint32_t> turns(384);
  back_and_forth<<<1, 384>>>(turns.get());
  CUDA_FINISH("back_and_forth");
  Tally forth;
  for (const uint32_t count : turns.read()) {
    forth.equal(static_cast<uint32_t>(kTurns), count, [] { return text("turns of a thread"); });
  }
  checks.report("setmaxnreg-budget", "the same registers go back and forth", forth);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
