// The two kinds of product that attention is made of. Tiles are [rows, kD] bf16 in boxes of 64 columns with the 128-byte swizzle.
#pragma once

#include "ptxk/sm90/wgmma_instances.cuh"

using namespace ptxk;

constexpr int kD = 128;

// [products]
// D[64, kRowsB] = A B^T: this warpgroup's 64 rows of A [kRowsA, kD], B [kRowsB, kD].
template <int kRowsA, int kRowsB>
__device__ __forceinline__ void issue_abt(float (&d)[kRowsB / 64][32], const void* a, const void* b, int warpgroup) {
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kD / 16; ++step) {
#pragma unroll
    for (int part = 0; part < kRowsB / 64; ++part) {
      wgmma_m64n64k16_bf16(d[part], make_descriptor<Swizzle::b128, Major::k, kRowsA, kD>(a, step, warpgroup),
                           make_descriptor<Swizzle::b128, Major::k, kRowsB, kD>(b, step, part), step != 0);
    }
  }
  wgmma_commit();
}

// D[64, kD] += P B: P [64, kDepth] in registers, B [kDepth, kD] as it was loaded, read along kD.
template <int kDepth>
__device__ __forceinline__ void issue_pb(float (&d)[kD / 64][32], const uint32_t (&p)[kDepth / 16][4], const void* b) {
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kDepth / 16; ++step) {
#pragma unroll
    for (int part = 0; part < kD / 64; ++part) {
      wgmma_m64n64k16_bf16_rs<Major::mn>(d[part], p[step], make_descriptor<Swizzle::b128, Major::mn, kD, kDepth>(b, step, part), 1);
    }
  }
  wgmma_commit();
}
// [/products]

// Waits for nothing; keeps the uses of D behind the wait before it.
template <int kParts>
__device__ __forceinline__ void settle(float (&d)[kParts][32]) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    wgmma_settle(d[part]);
  }
}
