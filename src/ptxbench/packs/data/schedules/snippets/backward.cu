// Attention backward without atomics: rowsum(dO * O), then one kernel that owns dK and dV and one that owns dQ.
// Q, K, V, O, dO are [heads * length, kD] bf16, LSE and delta [heads * length] float; length is a multiple of 128.
#include <cuda_bf16.h>

#include "products.cuh"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/math.cuh"
#include "ptxk/sm90/mbarrier.cuh"
#include "ptxk/sm90/registers.cuh"
#include "ptxk/sm90/tma.cuh"
#include "store.cuh"

constexpr int kOwned = 128, kOther = 64, kStages = 2, kConsumers = 2;  // rows of a block, rows of a step
constexpr float kLog2E = 1.4426950408889634f;
using Owned = OperandTile<Swizzle::b128, Major::k, kOwned, kD>;
using Other = OperandTile<Swizzle::b128, Major::k, kOther, kD>;
struct alignas(1024) Shared {
  uint8_t owned[2][Owned::kTileBytes];           // K and V; Q and dO
  uint8_t other[kStages][2][Other::kTileBytes];  // Q and dO; K and V
  float lse[kStages][kOther], delta[kStages][kOther];
  uint64_t full_owned, full[kStages], empty[kStages];
};
static_assert(registers_fit<384, 24, 240, 240>());

struct Problem {
  const float* lse;
  const float* delta;
  int length;
  float scale;
  bool causal;
};

// [prekernel]
// delta = rowsum(dO * O): a warp a row.
extern "C" __global__ void row_dots(const __nv_bfloat162* o, const __nv_bfloat162* d_o, float* delta, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = threadIdx.x % 32; i < kD / 2; i += 32) {
    const float2 a = __bfloat1622float2(o[row * (kD / 2) + i]), b = __bfloat1622float2(d_o[row * (kD / 2) + i]);
    sum += a.x * b.x + a.y * b.y;
  }
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
  if (threadIdx.x % 32 == 0) delta[row] = sum;
}
// [/prekernel]

__device__ __forceinline__ void initialise(Shared& shared) {
  if (threadIdx.x == 0) {
    mbarrier_init(&shared.full_owned, 1);
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(&shared.full[stage], 1);
      mbarrier_init(&shared.empty[stage], kConsumers * 4);  // each warp: it reads LSE and delta itself
    }
    fence_mbarrier_init();
  }
  __syncthreads();
}

__device__ __forceinline__ void load_tile(uint8_t* to, const CUtensorMap* map, uint64_t* full, int row, int rows) {
  for (int box = 0; box < kD / 64; ++box) {
    tma_load_2d(to + box * rows * 128, map, full, box * 64, row);
  }
}

// Two tiles that the block keeps, then pairs of tiles by the step; with kRows the LSE and delta of their rows.
template <bool kRows>
__device__ __forceinline__ void produce(Shared& shared, const CUtensorMap* const (&owned)[2], const CUtensorMap* const (&other)[2],
                                        const Problem& problem, int first, int from, int to) {
  mbarrier_arrive_expect_tx(&shared.full_owned, 2 * Owned::kTileBytes);
  for (int i = 0; i < 2; ++i) {
    load_tile(shared.owned[i], owned[i], &shared.full_owned, first + blockIdx.x * kOwned, kOwned);
  }
  Ring<kStages> ring;
  for (int step = from; step < to; ++step, ring.advance()) {
    uint64_t* full = &shared.full[ring.stage];
    const int row = first + step * kOther;
    mbarrier_wait_parity(&shared.empty[ring.stage], ring.parity ^ 1);
    mbarrier_arrive_expect_tx(full, 2 * Other::kTileBytes + (kRows ? 2 * kOther * 4 : 0));
    for (int i = 0; i < 2; ++i) {
      load_tile(shared.other[ring.stage][i], other[i], full, row, kOther);
    }
    if (kRows) {
      bulk_load(shared.lse[ring.stage], problem.lse + row, kOther * 4, full);
      bulk_load(shared.delta[ring.stage], problem.delta + row, kOther * 4, full);
    }
  }
}

// [pack]
// A product's 64 x 64 result as the A of the next: word i % 4 of step i / 4.
__device__ __forceinline__ void pack(uint32_t (&a)[kOther / 16][4], const float (&d)[32]) {
#pragma unroll
  for (int i = 0; i < kOther / 4; ++i) a[i / 4][i % 4] = pack_bf16(d[2 * i], d[2 * i + 1]);
}
// [/pack]

__device__ __forceinline__ void scale_and_store(float* to, float (&d)[kD / 64][32], float factor, int row) {
#pragma unroll
  for (int part = 0; part < kD / 64; ++part) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      d[part][i] *= factor;
    }
    store_rows(to, kD, row, part * 64, row + 64, d[part]);
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    d_keys_values(const __grid_constant__ CUtensorMap map_k, const __grid_constant__ CUtensorMap map_v,
                  const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_do, float* d_k, float* d_v,
                  Problem problem) {
  extern __shared__ uint8_t raw[];
  Shared& shared = aligned_shared<Shared>(raw);
  initialise(shared);
  const int first = blockIdx.y * problem.length, steps = problem.length / kOther;
  const int from = problem.causal ? blockIdx.x * kOwned / kOther : 0;  // no query before its keys
  if (threadIdx.x / 128 == 0) {
    setmaxnreg_dec<24>();
    if (threadIdx.x == 0) {
      produce<true>(shared, {&map_k, &map_v}, {&map_q, &map_do}, problem, first, from, steps);
    }
    return;
  }
  setmaxnreg_inc<240>();
  const int thread = threadIdx.x % 128, consumer = threadIdx.x / 128 - 1;
  const int key = blockIdx.x * kOwned + consumer * 64;
  const float scale_log2 = problem.scale * kLog2E;
  float d_key[kD / 64][32] = {}, d_value[kD / 64][32] = {};
  Ring<kStages> ring;
  mbarrier_wait_parity(&shared.full_owned, 0);
  for (int step = from; step < steps; ++step, ring.advance()) {
    float s[1][32], dp[1][32];
    uint32_t p[kOther / 16][4], ds[kOther / 16][4];
    const void *q = shared.other[ring.stage][0], *d_o = shared.other[ring.stage][1];
    mbarrier_wait_parity(&shared.full[ring.stage], ring.parity);
    // [keys]
    issue_abt<kOwned, kOther>(s, shared.owned[0], q, consumer);     // S^T = K Q^T
    issue_abt<kOwned, kOther>(dp, shared.owned[1], d_o, consumer);  // dP^T = V dO^T
    wgmma_wait<1>();
    settle(s);
#pragma unroll
    for (int i = 0; i < 32; ++i) {  // a column is a query here
      const int column = d_column(thread, i);
      const bool seen = !problem.causal || step * kOther + column >= key + d_row(thread, i);
      s[0][i] = seen ? exp2_fast(s[0][i] * scale_log2 - shared.lse[ring.stage][column] * kLog2E) : 0.0f;
    }
    pack(p, s[0]);
    wgmma_wait<0>();
    settle(dp);
#pragma unroll
    for (int i = 0; i < 32; ++i) dp[0][i] = s[0][i] * (dp[0][i] - shared.delta[ring.stage][d_column(thread, i)]);
    pack(ds, dp[0]);
    issue_pb<kOther>(d_value, p, d_o);  // dV += P^T dO
    issue_pb<kOther>(d_key, ds, q);     // dK += dS^T Q, times the scale at the end
    wgmma_wait<0>();
    settle(d_value);
    settle(d_key);
    if (thread % 32 == 0) mbarrier_arrive(&shared.empty[ring.stage]);
    // [/keys]
  }
  scale_and_store(d_k, d_key, problem.scale, first + key);
  scale_and_store(d_v, d_value, 1.0f, first + key);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    d_queries(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_do,
              const __grid_constant__ CUtensorMap map_k, const __grid_constant__ CUtensorMap map_v, float* d_q, Problem problem) {
  extern __shared__ uint8_t raw[];
  Shared& shared = aligned_shared<Shared>(raw);
  initialise(shared);
  const int first = blockIdx.y * problem.length;
  const int steps = (problem.causal ? (blockIdx.x + 1) * kOwned : problem.length) / kOther;  // no key after its queries
  if (threadIdx.x / 128 == 0) {
    setmaxnreg_dec<24>();
    if (threadIdx.x == 0) {
      produce<false>(shared, {&map_q, &map_do}, {&map_k, &map_v}, problem, first, 0, steps);
    }
    return;
  }
  setmaxnreg_inc<240>();
  const int thread = threadIdx.x % 128, consumer = threadIdx.x / 128 - 1;
  const int query = blockIdx.x * kOwned + consumer * 64;
  const float scale_log2 = problem.scale * kLog2E;
  float d_query[kD / 64][32] = {}, lse[2], delta[2];
  for (int r = 0; r < 2; ++r) {
    lse[r] = problem.lse[first + query + d_row(thread, 2 * r)] * kLog2E;
    delta[r] = problem.delta[first + query + d_row(thread, 2 * r)];
  }
  Ring<kStages> ring;
  mbarrier_wait_parity(&shared.full_owned, 0);
  for (int step = 0; step < steps; ++step, ring.advance()) {
    float s[1][32], dp[1][32];
    uint32_t ds[kOther / 16][4];
    const void *k = shared.other[ring.stage][0], *v = shared.other[ring.stage][1];
    mbarrier_wait_parity(&shared.full[ring.stage], ring.parity);
    // [queries]
    issue_abt<kOwned, kOther>(s, shared.owned[0], k, consumer);   // S = Q K^T
    issue_abt<kOwned, kOther>(dp, shared.owned[1], v, consumer);  // dP = dO V^T
    wgmma_wait<0>();
    settle(s);
    settle(dp);
#pragma unroll
    for (int i = 0; i < 32; ++i) {  // a row is a query here: lse (times log2 e) and delta are in registers
      const bool seen = !problem.causal || step * kOther + d_column(thread, i) <= query + d_row(thread, i);
      const float p = seen ? exp2_fast(s[0][i] * scale_log2 - lse[i / 2 % 2]) : 0.0f;
      dp[0][i] = p * (dp[0][i] - delta[i / 2 % 2]);
    }
    pack(ds, dp[0]);
    issue_pb<kOther>(d_query, ds, k);  // dQ += dS K, times the scale at the end
    wgmma_wait<0>();
    settle(d_query);
    if (thread % 32 == 0) mbarrier_arrive(&shared.empty[ring.stage]);
    // [/queries]
  }
  scale_and_store(d_q, d_query, problem.scale, first + query);
}
