// Attention backward on CUDA cores, with P = exp(Q K^T / sqrt(D) - L) and dS = P * (dO V^T - rowsum(dO * O)):
// dQ = dS K / sqrt(D), dK = dS^T Q / sqrt(D), dV = P^T dO.
//
// Two kernels, one over the queries for dQ and one over the keys for dK and dV, so that every output has one writer and no sum
// depends on an order. A block has 64 rows of one head and goes over the others, 64 at a time. All of it is float32.

#pragma once

#include "tile.cuh"

namespace plain {

// Four tiles; weights; L and rowsum(dO * O) of 64 queries.
template <int D>
constexpr int kBackwardBytes = (4 * kTileFloats<D> + kWeightFloats + 2 * kTile) * static_cast<int>(sizeof(float));

struct Backward {
  const __nv_bfloat16 *q, *k, *v, *o, *d_o;
  const float* lse;
  __nv_bfloat16 *d_q, *d_k, *d_v;
  int length;
};

// L, as a power of two, and rowsum(dO * O) of the queries whose dO is in `gradients`. Four threads a row.
template <int D>
__device__ __forceinline__ void load_rows(float* lse, float* dots, const float* gradients, const Backward& all, size_t row,
                                          int first) {
  const int one = threadIdx.x / 4;
  const bool there = first + one < all.length;
  float dot = 0.0f;
  if (there) {
    const __nv_bfloat16* outputs = all.o + (row + first + one) * D;
    for (int column = threadIdx.x % 4 * 2; column < D; column += 8) {
      const float2 pair = widened(*reinterpret_cast<const unsigned*>(outputs + column));
      const float* gradient = gradients + one * kPitch<D> + column;
      dot += pair.x * gradient[0] + pair.y * gradient[1];
    }
  }
  dot += __shfl_xor_sync(0xffffffffu, dot, 1);
  dot += __shfl_xor_sync(0xffffffffu, dot, 2);
  if (threadIdx.x % 4 == 0) {
    lse[one] = there ? all.lse[row + first + one] * kLog2E : 0.0f;
    dots[one] = dot;
  }
}

// Grid: heads times ceil(length / 64) for both.
template <int D, bool kCausal>
__global__ void __launch_bounds__(kThreads, 1) backward_queries(const Backward all) {
  extern __shared__ float shared_floats[];
  float* queries = shared_floats;
  float* gradients = queries + kTileFloats<D>;
  float* keys = gradients + kTileFloats<D>;
  float* values = keys + kTileFloats<D>;
  float* weights = values + kTileFloats<D>;
  float* lse = weights + kWeightFloats;
  float* dots = lse + kTile;
  const int tiles = (all.length + kTile - 1) / kTile;
  const size_t row = static_cast<size_t>(blockIdx.x / tiles) * all.length;
  const int first = blockIdx.x % tiles * kTile;
  const float scale = 1.0f / sqrtf(static_cast<float>(D));

  load<D>(queries, all.q + row * D, first, all.length);
  load<D>(gradients, all.d_o + row * D, first, all.length);
  __syncthreads();
  load_rows<D>(lse, dots, gradients, all, row, first);
  Features<D> sums = {};
  const int end = kCausal ? min(all.length, first + kTile) : all.length;
  for (int start = 0; start < end; start += kTile) {
    load<D>(keys, all.k + row * D, start, all.length);
    load<D>(values, all.v + row * D, start, all.length);
    __syncthreads();
    Scores scores, products;
    multiply<D>(scores, queries, keys);
    multiply<D>(products, gradients, values);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int query = own_row(i);
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        const bool seen = attends<kCausal>(first + query, start + own_column(j), all.length);
        const float p = seen ? exp2f(scores[i][j] * (scale * kLog2E) - lse[query]) : 0.0f;
        scores[i][j] = p * (products[i][j] - dots[query]);
      }
    }
    put(weights, scores);
    __syncthreads();
    accumulate<D>(sums, weights, keys);
    __syncthreads();
  }
  const float factors[kOwn] = {scale, scale, scale, scale};
  store<D>(all.d_q + row * D, sums, factors, first, all.length);
}

template <int D, bool kCausal>
__global__ void __launch_bounds__(kThreads, 1) backward_keys(const Backward all) {
  extern __shared__ float shared_floats[];
  float* keys = shared_floats;
  float* values = keys + kTileFloats<D>;
  float* queries = values + kTileFloats<D>;
  float* gradients = queries + kTileFloats<D>;
  float* weights = gradients + kTileFloats<D>;
  float* lse = weights + kWeightFloats;
  float* dots = lse + kTile;
  const int tiles = (all.length + kTile - 1) / kTile;
  const size_t row = static_cast<size_t>(blockIdx.x / tiles) * all.length;
  const int first = blockIdx.x % tiles * kTile;
  const float scale = 1.0f / sqrtf(static_cast<float>(D));

  load<D>(keys, all.k + row * D, first, all.length);
  load<D>(values, all.v + row * D, first, all.length);
  Features<D> sums_k = {}, sums_v = {};
  // Queries before the first key do not see it.
  for (int start = kCausal ? first : 0; start < all.length; start += kTile) {
    load<D>(queries, all.q + row * D, start, all.length);
    load<D>(gradients, all.d_o + row * D, start, all.length);
    __syncthreads();
    load_rows<D>(lse, dots, gradients, all, row, start);
    // Transposed: rows are keys, columns queries.
    Scores scores, products;
    multiply<D>(scores, keys, queries);
    multiply<D>(products, values, gradients);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        const int query = own_column(j);
        const bool seen = attends<kCausal>(start + query, first + own_row(i), all.length);
        scores[i][j] = seen ? exp2f(scores[i][j] * (scale * kLog2E) - lse[query]) : 0.0f;
        products[i][j] = scores[i][j] * (products[i][j] - dots[query]);
      }
    }
    put(weights, scores);
    __syncthreads();
    accumulate<D>(sums_v, weights, gradients);
    __syncthreads();
    put(weights, products);
    __syncthreads();
    accumulate<D>(sums_k, weights, queries);
    __syncthreads();
  }
  const float scaled[kOwn] = {scale, scale, scale, scale};
  const float same[kOwn] = {1.0f, 1.0f, 1.0f, 1.0f};
  store<D>(all.d_k + row * D, sums_k, scaled, first, all.length);
  store<D>(all.d_v + row * D, sums_v, same, first, all.length);
}

}  // namespace plain
