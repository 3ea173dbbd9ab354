// What the measuring programs share.
#pragma once

#include <algorithm>

#include "check.hpp"
#include "ptxk/sm90/mbarrier.cuh"

namespace contracts {

// One launch to warm up, then the least of five: what disturbs only adds.
template <typename Launch>
double least(Device<uint64_t>& cycles, Launch launch) {
  uint64_t best = ~uint64_t{0};
  for (int turn = 0; turn < 6; ++turn) {
    launch();
    CUDA_FINISH("a measurement");
    best = turn ? std::min(best, cycles.read()[0]) : best;
  }
  return static_cast<double>(best);
}

// Bounded by tries alone: reading the timer would be measured too.
__device__ __forceinline__ bool arrives(uint64_t* barrier, uint32_t parity) {
  for (int turn = 0; turn < 1000; ++turn) {
    if (ptxk::mbarrier_try_wait_parity(barrier, parity)) {
      return true;
    }
  }
  return false;
}

// Past L1. The last argument keeps the loads alive.
static __global__ void read_all(const uint4* from, size_t count, int times, uint32_t* sink) {
  uint32_t sum = 0;
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (int turn = 0; turn < times; ++turn) {
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
      const uint4 a = __ldcg(from + i), b = __ldcg(from + i + step), c = __ldcg(from + i + 2 * step),
                  d = __ldcg(from + i + 3 * step);
      sum += a.x ^ b.y ^ c.z ^ d.w;
    }
    for (; i < count; i += step) {
      sum += __ldcg(from + i).x;
    }
  }
  if (sum == 0x12345678) {
    *sink = sum;
  }
}

}  // namespace contracts
