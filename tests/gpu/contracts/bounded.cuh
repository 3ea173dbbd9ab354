// Waits that end. A barrier that does not complete becomes a wrong case in the program's answers, never a hang.
#pragma once

#include <cstdint>

#include "ptxk/sm90/mbarrier.cuh"

namespace contracts {

constexpr uint64_t kPatience = 20'000'000;  // ns for one wait; what is waited for takes microseconds
constexpr uint32_t kMostTries = 1u << 24;   // should the timer stand still
constexpr uint64_t kSettled = 20'000;       // ns after which a transfer of some KiB has surely landed

// %globaltimer (PTX ISA, "Special Registers"): one clock for all SMs.
__device__ __forceinline__ uint64_t now_ns() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}

__device__ __forceinline__ void pause_ns(uint64_t length) {
  const uint64_t start = now_ns();
  for (uint32_t turn = 0; turn < kMostTries && now_ns() - start < length; ++turn) {
  }
}

// Whether the phase of this parity completes in good time.
__device__ __forceinline__ bool completes(uint64_t* barrier, uint32_t parity) {
  const uint64_t start = now_ns();
  for (uint32_t turn = 0; turn < kMostTries; ++turn) {
    if (ptxk::mbarrier_try_wait_parity(barrier, parity)) {
      return true;
    }
    if (now_ns() - start > kPatience) {
      return false;
    }
  }
  return false;
}

// Whether every try_wait of a short while says no: four of them, fewer where one alone sleeps long.
__device__ __forceinline__ bool stays_open(uint64_t* barrier, uint32_t parity) {
  const uint64_t start = now_ns();
  for (int turn = 0; turn < 4 && (turn == 0 || now_ns() - start < kSettled); ++turn) {
    if (ptxk::mbarrier_try_wait_parity(barrier, parity)) {
      return false;
    }
  }
  return true;
}

}  // namespace contracts
