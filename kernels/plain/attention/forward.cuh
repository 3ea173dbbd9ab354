// Attention forward on CUDA cores: O = softmax(Q K^T / sqrt(D)) V and the natural log-sum-exp of the scaled scores.
//
// A block has 64 queries of one head and goes over its keys, 64 at a time, with a running maximum and total for every row (Milakov
// and Gimelshein, "Online normalizer calculation for softmax", 2018). Everything between the bf16 inputs and outputs is float32.

#pragma once

#include "tile.cuh"

namespace plain {

// Queries; keys, then values; weights.
template <int D>
constexpr int kForwardBytes = (2 * kTileFloats<D> + kWeightFloats) * static_cast<int>(sizeof(float));

// Grid: heads times ceil(length / 64).
template <int D, bool kCausal>
__global__ void __launch_bounds__(kThreads)
    forward(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, float* lse, int length) {
  extern __shared__ float shared_floats[];
  float* queries = shared_floats;
  float* keys = queries + kTileFloats<D>;
  float* weights = keys + kTileFloats<D>;
  const int tiles = (length + kTile - 1) / kTile;
  const size_t row = static_cast<size_t>(blockIdx.x / tiles) * length;  // of the head's first query among all heads'
  const int first = blockIdx.x % tiles * kTile;
  const float scale = kLog2E / sqrtf(static_cast<float>(D));  // scores are powers of two from here on

  load<D>(queries, q + row * D, first, length);
  Features<D> sums = {};
  float largest[kOwn], total[kOwn] = {};  // of total, each thread has its own columns' part
  for (float& one : largest) {
    one = -INFINITY;
  }
  const int end = kCausal ? min(length, first + kTile) : length;
  for (int start = 0; start < end; start += kTile) {
    load<D>(keys, k + row * D, start, length);
    __syncthreads();
    Scores scores;
    multiply<D>(scores, queries, keys);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      float most = largest[i];
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        const int key = start + own_column(j);
        // Rows beyond the last query are not stored, but shall have numbers: key 0 is never hidden from them.
        const bool seen = key < length && (!kCausal || key <= first + own_row(i));
        scores[i][j] = seen ? scores[i][j] * scale : -INFINITY;
        most = fmaxf(most, scores[i][j]);
      }
      most = row_maximum(most);
      const float shrink = exp2f(largest[i] - most);
      largest[i] = most;
      total[i] *= shrink;
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        scores[i][j] = exp2f(scores[i][j] - most);
        total[i] += scores[i][j];
      }
#pragma unroll
      for (float& sum : sums[i]) {
        sum *= shrink;
      }
    }
    put(weights, scores);
    __syncthreads();
    load<D>(keys, v + row * D, start, length);
    __syncthreads();
    accumulate<D>(sums, weights, keys);
    __syncthreads();
  }

  float factors[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const float whole = row_sum(total[i]);
    factors[i] = 1.0f / whole;
    if (own_column(0) == 0 && first + own_row(i) < length) {
      lse[row + first + own_row(i)] = (largest[i] + log2f(whole)) * kLn2;
    }
  }
  store<D>(o + row * D, sums, factors, first, length);
}

}  // namespace plain
