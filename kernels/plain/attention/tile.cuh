// Tiles of 64 rows in shared memory as float32, and the two products that attention is made of, on CUDA cores.
//
// A block is 16x16 threads. Of a 64x64 product, thread (y, x) owns rows 4y to 4y+3 and columns x, x+16, x+32, x+48; of a product
// with D features, the same rows and features 32q + 2x and 32q + 2x + 1. So the threads of a row read the same left operand, and
// the right one's rows, D + 4 floats apart, from different banks.

#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace plain {

constexpr int kTile = 64;
constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;
constexpr int kOwn = kTile / kSide;
constexpr int kChunk = 8;  // elements in 16 bytes
constexpr int kWeightPitch = kTile + 4;
constexpr int kWeightFloats = kTile * kWeightPitch;

template <int D>
constexpr int kPitch = D + 4;
template <int D>
constexpr int kTileFloats = kTile * kPitch<D>;

using Scores = float[kOwn][kOwn];
template <int D>
using Features = float[kOwn][D / kSide];

// This thread's place in the block.
__device__ __forceinline__ int own_row(int i) { return threadIdx.x / kSide * kOwn + i; }
__device__ __forceinline__ int own_column(int j) { return threadIdx.x % kSide + j * kSide; }

// The two bf16 of a word as floats: a bf16 is the upper half of one.
__device__ __forceinline__ float2 widened(unsigned word) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

// Rows `first` and following of a [length, D] matrix; rows beyond it are zeros.
template <int D>
__device__ __forceinline__ void load(float* tile, const __nv_bfloat16* matrix, int first, int length) {
  static_assert(D % 32 == 0, "features come in groups of 32");
#pragma unroll
  for (int i = 0; i < kTile * D / kChunk / kThreads; ++i) {
    const int chunk = threadIdx.x + i * kThreads;
    const int row = chunk / (D / kChunk);
    const int column = chunk % (D / kChunk) * kChunk;
    uint4 part = make_uint4(0, 0, 0, 0);
    if (first + row < length) {
      part = *reinterpret_cast<const uint4*>(matrix + static_cast<size_t>(first + row) * D + column);
    }
    const float2 a = widened(part.x), b = widened(part.y), c = widened(part.z), d = widened(part.w);
    float* to = tile + row * kPitch<D> + column;
    *reinterpret_cast<float4*>(to) = make_float4(a.x, a.y, b.x, b.y);
    *reinterpret_cast<float4*>(to + 4) = make_float4(c.x, c.y, d.x, d.y);
  }
}

// sums = left * right^T: products of the rows of two tiles.
template <int D>
__device__ __forceinline__ void multiply(Scores& sums, const float* left, const float* right) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      sums[i][j] = 0.0f;
    }
  }
#pragma unroll 4
  for (int at = 0; at < D; at += 4) {
    float4 b[kOwn];
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      b[j] = *reinterpret_cast<const float4*>(right + own_column(j) * kPitch<D> + at);
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(left + own_row(i) * kPitch<D> + at);
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        sums[i][j] += a.x * b[j].x;
        sums[i][j] += a.y * b[j].y;
        sums[i][j] += a.z * b[j].z;
        sums[i][j] += a.w * b[j].w;
      }
    }
  }
}

// A 64x64 product into shared memory, to be a left operand of `accumulate`.
__device__ __forceinline__ void put(float* weights, const Scores& values) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      weights[own_row(i) * kWeightPitch + own_column(j)] = values[i][j];
    }
  }
}

// sums += weights * values: sums of a tile's rows.
template <int D>
__device__ __forceinline__ void accumulate(Features<D>& sums, const float* weights, const float* values) {
#pragma unroll 2
  for (int at = 0; at < kTile; at += 4) {
    float w[kOwn][4];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const float4 four = *reinterpret_cast<const float4*>(weights + own_row(i) * kWeightPitch + at);
      w[i][0] = four.x, w[i][1] = four.y, w[i][2] = four.z, w[i][3] = four.w;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int q = 0; q < D / 32; ++q) {
        const float2 v = *reinterpret_cast<const float2*>(values + (at + k) * kPitch<D> + q * 32 + threadIdx.x % kSide * 2);
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
          sums[i][2 * q] += w[i][k] * v.x;
          sums[i][2 * q + 1] += w[i][k] * v.y;
        }
      }
    }
  }
}

// Rows `first` and following of a [length, D] matrix, each times its factor, rounded.
template <int D>
__device__ __forceinline__ void store(__nv_bfloat16* matrix, const Features<D>& sums, const float (&factors)[kOwn], int first,
                                      int length) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int row = first + own_row(i);
    if (row < length) {
#pragma unroll
      for (int q = 0; q < D / 32; ++q) {
        const int column = q * 32 + threadIdx.x % kSide * 2;
        *reinterpret_cast<__nv_bfloat162*>(matrix + static_cast<size_t>(row) * D + column) =
            __floats2bfloat162_rn(sums[i][2 * q] * factors[i], sums[i][2 * q + 1] * factors[i]);
      }
    }
  }
}

// Over the 16 threads that share rows.
__device__ __forceinline__ float row_maximum(float value) {
  for (int mask = kSide / 2; mask > 0; mask /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
  }
  return value;
}

__device__ __forceinline__ float row_sum(float value) {
  for (int mask = kSide / 2; mask > 0; mask /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, mask);
  }
  return value;
}

// Whether a query attends to a key.
template <bool kCausal>
__device__ __forceinline__ bool attends(int query, int key, int length) {
  return query < length && key < length && (!kCausal || key <= query);
}

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

}  // namespace plain
