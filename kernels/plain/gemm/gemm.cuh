// C[M,N] = A[M,K] * B[N,K]^T in bf16 on CUDA cores: no instruction here belongs to one architecture.
//
// A block of 16x16 threads makes a 128x128 tile of C. It goes along K in steps of 32, whose parts of A and B lie in shared memory
// as float32; the next step's are on their way meanwhile. Thread (y, x) owns rows 8y to 8y+7 and columns x, x+16, ..., x+112:
// the threads of a row read the same A, and B's rows, 36 floats apart, from different banks. Products of bf16 are exact in
// float32, sums are float32, and C is rounded once.

#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace plain {

constexpr int kTile = 128;
constexpr int kStep = 32;
constexpr int kPitch = kStep + 4;
constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;
constexpr int kOwn = kTile / kSide;
constexpr int kChunk = 8;  // elements in 16 bytes
constexpr int kLoads = kTile * kStep / kChunk / kThreads;
constexpr int kSharedBytes = 2 * kTile * kPitch * static_cast<int>(sizeof(float));

// This thread's chunks of the tile at (row, column) of a matrix of `rows` rows and k columns; zeros outside.
__device__ __forceinline__ void fetch(uint4 (&part)[kLoads], const __nv_bfloat16* matrix, int row, int column, int rows, int k) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int chunk = threadIdx.x + i * kThreads;
    const int r = row + chunk / (kStep / kChunk);
    const int c = column + chunk % (kStep / kChunk) * kChunk;
    part[i] = make_uint4(0, 0, 0, 0);
    if (r < rows && c < k) {
      part[i] = *reinterpret_cast<const uint4*>(matrix + static_cast<size_t>(r) * k + c);
    }
  }
}

// The two bf16 of a word as floats: a bf16 is the upper half of one.
__device__ __forceinline__ float2 widened(unsigned word) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

__device__ __forceinline__ void put(float* tile, const uint4 (&part)[kLoads]) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int chunk = threadIdx.x + i * kThreads;
    float* to = tile + chunk / (kStep / kChunk) * kPitch + chunk % (kStep / kChunk) * kChunk;
    const float2 a = widened(part[i].x), b = widened(part[i].y), c = widened(part[i].z), d = widened(part[i].w);
    *reinterpret_cast<float4*>(to) = make_float4(a.x, a.y, b.x, b.y);
    *reinterpret_cast<float4*>(to + 4) = make_float4(c.x, c.y, d.x, d.y);
  }
}

// k is a multiple of 8; m, n and k need not fill whole tiles. Grid: tiles of C, rows along x.
__global__ void __launch_bounds__(kThreads)
    gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ float shared_floats[];
  float* tile_a = shared_floats;
  float* tile_b = tile_a + kTile * kPitch;
  const int row = blockIdx.x * kTile;
  const int column = blockIdx.y * kTile;
  const int y = threadIdx.x / kSide;
  const int x = threadIdx.x % kSide;

  float sums[kOwn][kOwn] = {};
  uint4 part_a[kLoads], part_b[kLoads];
  fetch(part_a, a, row, 0, m, k);
  fetch(part_b, b, column, 0, n, k);
  for (int step = 0; step < k; step += kStep) {
    put(tile_a, part_a);
    put(tile_b, part_b);
    __syncthreads();
    fetch(part_a, a, row, step + kStep, m, k);
    fetch(part_b, b, column, step + kStep, n, k);
#pragma unroll 2
    for (int at = 0; at < kStep; at += 4) {
      float4 right[kOwn];
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        right[j] = *reinterpret_cast<const float4*>(tile_b + (x + j * kSide) * kPitch + at);
      }
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const float4 left = *reinterpret_cast<const float4*>(tile_a + (y * kOwn + i) * kPitch + at);
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
          sums[i][j] += left.x * right[j].x;
          sums[i][j] += left.y * right[j].y;
          sums[i][j] += left.z * right[j].z;
          sums[i][j] += left.w * right[j].w;
        }
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int r = row + y * kOwn + i;
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      const int col = column + x + j * kSide;
      if (r < m && col < n) {
        c[static_cast<size_t>(r) * n + col] = __float2bfloat16_rn(sums[i][j]);
      }
    }
  }
}

}  // namespace plain
