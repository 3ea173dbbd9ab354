// Enough of CUDA for a host compiler to run the plain kernels' device code. Threads are coroutines: a warp's lanes go on to their
// next shuffle, a block's warps to their next barrier, one after the other, first to last or last to first. What a barrier should
// have kept apart is then not apart in one of the two orders. Shared memory is NaN at a block's start, and what lies behind it
// must stay.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float __uint_as_float(unsigned word) {
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}
using std::min;

namespace host_cuda {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kFloats = 227 * 1024 / 4 + 1024;
constexpr size_t kStackBytes = 128 << 10;
enum class At { start, barrier, shuffle, end };

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(kStackBytes);
  At at = At::start;
  int shuffles = 0;
};

struct Machine {
  std::vector<Thread> threads = std::vector<Thread>(kThreads);
  ucontext_t scheduler;
  std::function<void()> kernel;
  int now = 0;
  float exchanged[2][kThreads];
};
inline Machine machine;

}  // namespace host_cuda

inline uint3 threadIdx, blockIdx;

namespace host_cuda {

inline void stop(At at) {
  Thread& thread = machine.threads[machine.now];
  thread.at = at;
  swapcontext(&thread.context, &machine.scheduler);
}

inline void enter() {
  machine.kernel();
  stop(At::end);
}

// Run a warp to its next barrier or to its end; shuffles hold up its own lanes alone. Returns where it is, `start` if not together.
inline At run_warp(int warp, bool reversed) {
  At common = At::shuffle;
  while (common == At::shuffle) {
    for (int i = 0; i < kWarp; ++i) {
      machine.now = warp * kWarp + (reversed ? kWarp - 1 - i : i);
      threadIdx = {static_cast<unsigned>(machine.now), 0, 0};
      Thread& thread = machine.threads[machine.now];
      swapcontext(&machine.scheduler, &thread.context);
      if (i != 0 && thread.at != common) {
        return At::start;
      }
      common = thread.at;
    }
  }
  return common;
}

// Run one block. Returns whether all threads met at the same barriers and shuffles.
inline bool run_block(bool reversed) {
  for (Thread& thread : machine.threads) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = thread.stack.size();
    thread.context.uc_link = nullptr;
    thread.shuffles = 0;
    makecontext(&thread.context, enter, 0);
  }
  constexpr int kWarps = kThreads / kWarp;
  for (At common = At::start; common != At::end;) {
    for (int i = 0; i < kWarps; ++i) {
      const At at = run_warp(reversed ? kWarps - 1 - i : i, reversed);
      if (at == At::start || (i != 0 && at != common)) {
        return false;
      }
      common = at;
    }
  }
  return true;
}

// Run a grid. Returns 0, 1 for threads that did not meet, or 2 for a write behind the `bytes` of shared memory.
inline int run_grid(unsigned width, unsigned height, float* shared, int bytes, bool reversed, std::function<void()> kernel) {
  constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
  machine.kernel = std::move(kernel);
  for (unsigned block = 0; block < width * height; ++block) {
    blockIdx = {block % width, block / width, 0};
    std::fill(shared, shared + kFloats, kNothing);
    if (!run_block(reversed)) {
      return 1;
    }
    if (!std::all_of(shared + bytes / 4, shared + kFloats, [](float one) { return std::isnan(one); })) {
      return 2;
    }
  }
  return 0;
}

}  // namespace host_cuda

inline void __syncthreads() { host_cuda::stop(host_cuda::At::barrier); }

// Each shuffle has the other buffer: who writes it again has passed the shuffle between, and so has everybody.
inline float __shfl_xor_sync(unsigned, float value, int mask) {
  host_cuda::Machine& machine = host_cuda::machine;
  float* exchanged = machine.exchanged[machine.threads[machine.now].shuffles++ % 2];
  exchanged[machine.now] = value;
  host_cuda::stop(host_cuda::At::shuffle);
  return exchanged[machine.now ^ mask];
}
