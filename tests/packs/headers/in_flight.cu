// Chained products, S = Q K' and O += P V with P made of S, in the orders of which test_in_flight.py asks ptxas what it thinks.
#include "all.cuh"

using namespace ptxk;

namespace {

struct Given {
  float* x;
  uint64_t q, k, v;
  int rounds;
};

// Q K' and P V of 64 x 64, each a group of its own; the fence is the caller's.
__device__ __forceinline__ void issue_s(float (&s)[32], const Given& given, int j) {
#pragma unroll
  for (int step = 0; step < 4; ++step) wgmma_m64n64k16_bf16(s, given.q + 2 * step, given.k + j + 2 * step, step);
  wgmma_commit();
}
__device__ __forceinline__ void issue_o(float (&o)[32], const uint32_t (&p)[4][4], const Given& given) {
#pragma unroll
  for (int step = 0; step < 4; ++step) wgmma_m64n64k16_bf16_rs<Major::mn>(o, p[step], given.v + 128 * step, 1);
  wgmma_commit();
}

__device__ __forceinline__ void exponentials(float (&s)[32], float& factor) {
  float most = factor;
#pragma unroll
  for (int i = 0; i < 32; ++i) most = fmaxf(most, s[i]);
  factor = exp2_fast(factor - most);
#pragma unroll
  for (int i = 0; i < 32; ++i) s[i] = exp2_fast(s[i] - most);
}
__device__ __forceinline__ void pack(uint32_t (&p)[4][4], const float (&s)[32]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) p[i / 4][i % 4] = pack_bf16(s[2 * i], s[2 * i + 1]);
#pragma unroll
  for (int i = 0; i < 16; ++i) asm volatile("" : "+r"(p[i / 4][i % 4])::"memory");
}
__device__ __forceinline__ void rescale(float (&o)[32], float factor) {
#pragma unroll
  for (int i = 0; i < 32; ++i) o[i] *= factor;
}

}  // namespace

#define BEGIN(name)                                                              \
  extern "C" __global__ void __launch_bounds__(128, 1) name(const Given given) { \
    __shared__ uint64_t full[2];                                                 \
    float s[32], o[32] = {}, factor = given.x[0];                                \
    uint32_t p[4][4];                                                            \
    wgmma_fence();                                                               \
    issue_s(s, given, 0);                                                        \
    wgmma_wait<0>();                                                             \
    wgmma_settle(s);                                                             \
    exponentials(s, factor);                                                     \
    pack(p, s);
#define END                                                           \
    wgmma_fence();                                                    \
    issue_o(o, p, given);                                             \
    wgmma_wait<0>();                                                  \
    wgmma_settle(o);                                                  \
    for (int i = 0; i < 32; ++i) given.x[i * 128 + threadIdx.x] = o[i]; \
  }

// Both groups are committed in the round in which they are waited for. `between` stands before P V, `touch` uses O.
#define ONE_ROUND(name, between, touch)            \
  BEGIN(name)                                      \
  for (int j = 1; j < given.rounds; ++j) {         \
    mbarrier_wait_parity(&full[0], j & 1);         \
    wgmma_fence();                                 \
    issue_s(s, given, j);                          \
    between;                                       \
    issue_o(o, p, given);                          \
    wgmma_wait<1>();                               \
    wgmma_settle(s);                               \
    exponentials(s, factor);                       \
    wgmma_wait<0>();                               \
    wgmma_settle(o);                               \
    touch;                                         \
    pack(p, s);                                    \
  }                                                \
  END

ONE_ROUND(one_round, mbarrier_wait_parity(&full[1], j & 1); wgmma_fence(), rescale(o, factor))
ONE_ROUND(one_round_branch, mbarrier_wait_parity(&full[1], j & 1); wgmma_fence(), if (factor != 1.0f) rescale(o, factor))
ONE_ROUND(one_fence, , rescale(o, factor))
ONE_ROUND(wait_behind_fence, mbarrier_wait_parity(&full[1], j & 1), rescale(o, factor))
ONE_ROUND(loop_behind_fence, _Pragma("unroll 1") for (int i = 0; i < j; ++i) given.x[i] += 1.0f, rescale(o, factor))

// O's group of the round before is still in flight when S is issued; the wait leaves `pending` groups, then `touch` uses O.
#define TWO_ROUNDS(name, pending, touch)           \
  BEGIN(name)                                      \
  uint32_t next[4][4];                             \
  wgmma_fence();                                   \
  issue_o(o, p, given);                            \
  for (int j = 1; j < given.rounds; ++j) {         \
    ROUND(pending, touch, p, next)                 \
    ROUND(pending, touch, next, p)                 \
  }                                                \
  wgmma_wait<0>();                                 \
  wgmma_settle(o);                                 \
  END
#define ROUND(pending, touch, before, after)       \
    mbarrier_wait_parity(&full[0], j & 1);         \
    wgmma_fence();                                 \
    issue_s(s, given, j);                          \
    wgmma_wait<pending>();                         \
    wgmma_settle(o);                               \
    touch;                                         \
    wgmma_wait<0>();                               \
    wgmma_settle(s);                               \
    exponentials(s, factor);                       \
    pack(after, s);                                \
    wgmma_fence();                                 \
    issue_o(o, after, given);

TWO_ROUNDS(two_rounds, 1, rescale(o, factor))
TWO_ROUNDS(two_rounds_branch, 1, if (factor != 1.0f) rescale(o, factor))
TWO_ROUNDS(two_rounds_untouched, 1, )
TWO_ROUNDS(two_rounds_wait_for_all, 0, rescale(o, factor))

// The same without a loop.
BEGIN(no_loop)
uint32_t next[4][4];
const int j = 1;
wgmma_fence();
issue_o(o, p, given);
ROUND(1, rescale(o, factor), p, next)
ROUND(1, rescale(o, factor), next, p)
wgmma_wait<0>();
wgmma_settle(o);
END
