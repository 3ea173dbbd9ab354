// wgmma: D = A * B (+ D) by a warpgroup (PTX ISA, "wgmma").
// All 128 threads take part. D has 64 rows and N columns; K is 32 bytes: 16 of bf16 or f16, 32 of e4m3, e5m2 or s8, 8 of tf32.
// `accumulate` 0 ignores what D held. A comes from a descriptor, or from registers with the fragment of a_row, a_column.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ptxk {

// Before the first wgmma and whenever registers of D or A were touched since the last one.
//@ptxk ptx="wgmma.fence.sync.aligned" sass="WARPGROUP.ARRIVE" contracts=wgmma-protocol
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

//@ptxk ptx="wgmma.commit_group.sync.aligned" contracts=wgmma-protocol
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most kPending groups of this warpgroup are in flight.
//@ptxk ptx="wgmma.wait_group.sync.aligned" sass="WARPGROUP.DEPBAR" contracts=wgmma-protocol variants="kPending=0..7"
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  static_assert(kPending >= 0 && kPending <= 7, "0 to 7 groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the uses of D behind the wait that makes it valid: the compiler does not know of it.
//@ptxk ptx="none" contracts=wgmma-accumulator
template <typename T, int kRegisters>
__device__ __forceinline__ void wgmma_settle(T (&d)[kRegisters]) {
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      asm volatile("" : "+f"(d[i])::"memory");
    } else {
      asm volatile("" : "+r"(d[i])::"memory");
    }
  }
}

// Where element i of a thread's D (f32 or s32) lies; `thread` counts in the warpgroup (0..127). Packed f16: word i holds elements
// 2i and 2i+1.
__host__ __device__ constexpr int d_row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
__host__ __device__ constexpr int d_column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

// Where the first element of word i (0..3) of a thread's A lies; kBytes of an element. So for 16-bit A and step s along K, word i
// is the rounded pair d[8s + 2i], d[8s + 2i + 1] of a D whose columns are this A's K: pack_bf16 of them.
__host__ __device__ constexpr int a_row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8; }
template <int kBytes = 2>
__host__ __device__ constexpr int a_column(int thread, int i) {
  return (thread % 4 + i / 2 * 4) * (4 / kBytes);
}

}  // namespace ptxk
