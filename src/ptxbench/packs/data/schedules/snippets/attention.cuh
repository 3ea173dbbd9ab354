// What the two forward schedules share: tiles, producer, softmax and the way out. Q, K, V are [heads * length, kD] bf16.
#pragma once

#include "products.cuh"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/barrier.cuh"
#include "ptxk/sm90/math.cuh"
#include "ptxk/sm90/mbarrier.cuh"
#include "ptxk/sm90/registers.cuh"
#include "ptxk/sm90/tma.cuh"
#include "store.cuh"

constexpr int kQueries = 128, kKeys = 128, kStages = 2, kConsumers = 2;
constexpr int kTurn = 1;  // named barriers 1 and 2: the turns of the consumers
using TileQ = OperandTile<Swizzle::b128, Major::k, kQueries, kD>;
using TileK = OperandTile<Swizzle::b128, Major::k, kKeys, kD>;
struct alignas(1024) Shared {
  uint8_t q[TileQ::kTileBytes];
  uint8_t k[kStages][TileK::kTileBytes];
  uint8_t v[kStages][TileK::kTileBytes];
  uint64_t full_q, full_k[kStages], empty_k[kStages], full_v[kStages], empty_v[kStages];
};
static_assert(registers_fit<384, 24, 240, 240>());

struct Problem {
  float* o;
  float* lse;
  int length;
  float scale;
  bool causal;
};

// The block's place, and how many tiles of keys its queries look at: the same number for both consumers.
struct Place {
  int head, query, tiles;
};
__device__ __forceinline__ Place place(const Problem& problem) {
  const int query = blockIdx.x * kQueries;
  const int keys = problem.causal ? min(problem.length, query + kQueries) : problem.length;
  return {static_cast<int>(blockIdx.y), query, (keys + kKeys - 1) / kKeys};
}

__device__ __forceinline__ void initialise(Shared& shared) {
  if (threadIdx.x == 0) {
    mbarrier_init(&shared.full_q, 1);
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(&shared.full_k[stage], 1);
      mbarrier_init(&shared.full_v[stage], 1);
      mbarrier_init(&shared.empty_k[stage], kConsumers);
      mbarrier_init(&shared.empty_v[stage], kConsumers);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
}

// A tile in its two boxes of 64 columns; `to` has room for `rows` rows.
__device__ __forceinline__ void load_tile(uint8_t* to, const CUtensorMap* map, uint64_t* full, int row, int rows) {
  mbarrier_arrive_expect_tx(full, rows * kD * 2);
  for (int box = 0; box < kD / 64; ++box) {
    tma_load_2d(to + box * rows * 128, map, full, box * 64, row);
  }
}

__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap* map_q, const CUtensorMap* map_k, const CUtensorMap* map_v,
                                        const Problem& problem) {
  const Place here = place(problem);
  const int first = here.head * problem.length;
  load_tile(shared.q, map_q, &shared.full_q, first + here.query, kQueries);
  Ring<kStages> ring;
  for (int tile = 0; tile < here.tiles; ++tile, ring.advance()) {
    mbarrier_wait_parity(&shared.empty_k[ring.stage], ring.parity ^ 1);
    load_tile(shared.k[ring.stage], map_k, &shared.full_k[ring.stage], first + tile * kKeys, kKeys);
    mbarrier_wait_parity(&shared.empty_v[ring.stage], ring.parity ^ 1);
    load_tile(shared.v[ring.stage], map_v, &shared.full_v[ring.stage], first + tile * kKeys, kKeys);
  }
}

// Keys beyond the sequence (rows of the next head, or zeros) and, if causal, beyond the query.
__device__ __forceinline__ void mask(float (&s)[kKeys / 64][32], int key, int query, const Problem& problem) {
  const int thread = threadIdx.x % 128;
  if (key + kKeys <= problem.length && (!problem.causal || key + kKeys - 1 <= query)) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kKeys / 2; ++i) {
    const int column = key + i / 32 * 64 + d_column(thread, i % 32);
    if (column >= problem.length || (problem.causal && column > query + d_row(thread, i % 32))) {
      s[i / 32][i % 32] = -INFINITY;
    }
  }
}

// [softmax]
// S becomes P in place. A thread has two rows: elements with i / 2 % 2 == 0 and == 1; l is the sum of its own columns.
__device__ __forceinline__ void softmax(float (&s)[kKeys / 64][32], float (&m)[2], float (&l)[2], float (&alpha)[2],
                                        float scale_log2) {  // scale * log2(e)
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float most = m[r], sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kKeys / 2; ++i)
      if (i / 2 % 2 == r) most = fmaxf(most, s[i / 32][i % 32]);
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
    const float base = most == -INFINITY ? 0.0f : most * scale_log2;
    alpha[r] = exp2_fast(m[r] * scale_log2 - base);  // the old maximum against the new
    m[r] = most;
#pragma unroll
    for (int i = 0; i < kKeys / 2; ++i)
      if (i / 2 % 2 == r) sum += s[i / 32][i % 32] = exp2_fast(s[i / 32][i % 32] * scale_log2 - base);
    l[r] = l[r] * alpha[r] + sum;
  }
}

// P as the A of the next product: word i % 4 of step i / 4.
__device__ __forceinline__ void pack(uint32_t (&p)[kKeys / 16][4], const float (&s)[kKeys / 64][32]) {
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i) p[i / 4][i % 4] = pack_bf16(s[i / 16][i % 16 * 2], s[i / 16][i % 16 * 2 + 1]);
}
// [/softmax]

__device__ __forceinline__ void rescale(float (&o)[kD / 64][32], const float (&alpha)[2]) {
#pragma unroll
  for (int i = 0; i < kD / 2; ++i) {
    o[i / 32][i % 32] *= alpha[i / 2 % 2];
  }
}

// O / l, and the logarithm of the sum of exponentials (natural).
__device__ __forceinline__ void finish(float (&o)[kD / 64][32], const float (&m)[2], float (&l)[2], const Problem& problem, int row) {
  const int thread = threadIdx.x % 128;
  const int first = place(problem).head * problem.length;
  float inverse[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    l[r] += __shfl_xor_sync(0xffffffff, l[r], 1);
    l[r] += __shfl_xor_sync(0xffffffff, l[r], 2);
    inverse[r] = 1.0f / l[r];
    const int query = row + d_row(thread, 2 * r);
    if (thread % 4 == 0 && query < problem.length) {
      problem.lse[first + query] = m[r] * problem.scale + logf(l[r]);
    }
  }
  rescale(o, inverse);
#pragma unroll
  for (int part = 0; part < kD / 64; ++part) {
    store_rows(problem.o, kD, first + row, part * 64, first + problem.length, o[part]);
  }
}
