// One kernel for each annotated wrapper, use_<wrapper>, that calls it and keeps what it gives.

#include "all.cuh"
#include "ptxk/model/fragment.hpp"
#include "ptxk/model/swizzle.hpp"

using namespace ptxk;

#define USE(name, ...) extern "C" __global__ void __launch_bounds__(128, 1) use_##name(__VA_ARGS__)

// ---- address ----
USE(shared_address, uint32_t* out) {
  __shared__ uint32_t word;
  out[0] = shared_address(&word);
}

struct alignas(1024) Block {
  uint32_t word;
};

USE(aligned_shared, uint32_t* out) {
  extern __shared__ uint8_t raw[];
  static_assert(shared_bytes<Block> == 2048);
  out[0] = shared_address(&aligned_shared<Block>(raw));
}

// ---- mbarrier ----
#define BARRIER __shared__ uint64_t barrier
USE(mbarrier_init) {
  BARRIER;
  mbarrier_init(&barrier, 3);
}
USE(fence_mbarrier_init) { fence_mbarrier_init(); }
USE(mbarrier_invalidate) {
  BARRIER;
  mbarrier_invalidate(&barrier);
}
USE(mbarrier_arrive) {
  BARRIER;
  mbarrier_arrive(&barrier);
}
USE(mbarrier_arrive_expect_tx) {
  BARRIER;
  mbarrier_arrive_expect_tx(&barrier, 512);
}
USE(mbarrier_expect_tx) {
  BARRIER;
  mbarrier_expect_tx(&barrier, 512);
}
USE(mbarrier_try_wait_parity, int* out) {
  BARRIER;
  out[0] = mbarrier_try_wait_parity(&barrier, 1);
}
USE(mbarrier_wait_parity) {
  BARRIER;
  mbarrier_wait_parity(&barrier, 1);
}
USE(mbarrier_wait_parity_cluster) {
  BARRIER;
  mbarrier_wait_parity_cluster(&barrier, 1);
}
USE(mbarrier_arrive_remote, uint32_t cta) {
  BARRIER;
  mbarrier_arrive_remote(&barrier, cta);
}
USE(mbarrier_arrive_remote_release, uint32_t cta) {
  BARRIER;
  mbarrier_arrive_remote_release(&barrier, cta);
}
USE(mbarrier_arrive_expect_tx_remote, uint32_t cta) {
  BARRIER;
  mbarrier_arrive_expect_tx_remote(&barrier, cta, 64);
}

// ---- cluster ----
USE(cluster_rank, uint32_t* out) { out[0] = cluster_rank(); }
USE(cluster_size, uint32_t* out) { out[0] = cluster_size(); }
USE(cluster_arrive) { cluster_arrive(); }
USE(cluster_arrive_relaxed) { cluster_arrive_relaxed(); }
USE(cluster_wait) { cluster_wait(); }
USE(cluster_sync) { cluster_sync(); }
USE(map_to_cta, uint32_t* out, uint32_t cta) {
  __shared__ uint32_t word;
  out[0] = map_to_cta(&word, cta);
}

// ---- fence, elect, named barriers, registers, PDL ----
USE(fence_proxy_async_shared) { fence_proxy_async_shared(); }
USE(fence_proxy_async) { fence_proxy_async(); }
USE(fence_cluster) { fence_cluster(); }
USE(fence_tensor_map_acquire, const void* map) { fence_tensor_map_acquire(map); }
USE(elect_one, int* out) {
  if (elect_one()) {
    out[threadIdx.x] = 1;
  }
}
USE(named_barrier_sync, int id) { named_barrier_sync<64>(id); }
USE(named_barrier_arrive, int id) { named_barrier_arrive<64>(id); }
static_assert(launch_registers(384) == 168 && registers_fit<384, 40, 232, 232>() && !registers_fit<384, 48, 232, 232>());
USE(setmaxnreg_inc) { setmaxnreg_inc<240>(); }
USE(setmaxnreg_dec) { setmaxnreg_dec<40>(); }
USE(griddep_wait) { griddep_wait(); }
USE(griddep_launch) { griddep_launch(); }

USE(grid_barrier, uint32_t* tickets) { grid_barrier(tickets); }

// ---- cache, math ----
USE(policy_evict_first, uint64_t* out) { out[0] = policy_evict_first(); }
USE(policy_evict_last, uint64_t* out) { out[0] = policy_evict_last(); }
USE(load_global_hint, uint4* out, const uint4* in, uint64_t policy) { out[0] = load_global_hint(in, policy); }
USE(exp2_fast, float* x) { x[0] = exp2_fast(x[0]); }
USE(exp2_f16x2, uint32_t* x) { x[0] = exp2_f16x2(x[0]); }
USE(pack_bf16, uint32_t* out, float a, float b) { out[0] = pack_bf16(a, b); }
USE(pack_f16, uint32_t* out, float a, float b) { out[0] = pack_f16(a, b); }
USE(pack_e4m3, uint16_t* out, float a, float b) { out[0] = pack_e4m3(a, b); }

// ---- TMA ----
#define MAP const __grid_constant__ CUtensorMap map
#define BOX alignas(1024) __shared__ uint8_t box[1024]
USE(tma_prefetch_descriptor, MAP) { tma_prefetch_descriptor(&map); }
USE(tma_load_2d, MAP, int c) {
  BARRIER;
  BOX;
  tma_load_2d(box, &map, &barrier, c, 0);
}
USE(tma_load_hint_2d, MAP, int c, uint64_t policy) {
  BARRIER;
  BOX;
  tma_load_hint_2d(box, &map, &barrier, c, 0, policy);
}
USE(tma_load_2d_multicast, MAP, int c, uint16_t mask) {
  BARRIER;
  BOX;
  tma_load_2d_multicast(box, &map, &barrier, c, 0, mask);
}
USE(tma_load_hint_2d_multicast, MAP, int c, uint16_t mask, uint64_t policy) {
  BARRIER;
  BOX;
  tma_load_hint_2d_multicast(box, &map, &barrier, c, 0, mask, policy);
}
USE(tma_store_2d, MAP, int c) {
  BOX;
  tma_store_2d(&map, box, c, 0);
}
USE(tma_store_hint_2d, MAP, int c, uint64_t policy) {
  BOX;
  tma_store_hint_2d(&map, box, c, 0, policy);
}
USE(tma_reduce_add_2d, MAP, int c) {
  BOX;
  tma_reduce_add_2d(&map, box, c, 0);
}
USE(tma_prefetch_2d, MAP, int c) { tma_prefetch_2d(&map, c, 0); }
USE(tma_commit) { tma_commit(); }
USE(tma_wait_read) { tma_wait_read<1>(); }
USE(tma_wait) { tma_wait<0>(); }
USE(bulk_load, const void* from) {
  BARRIER;
  BOX;
  bulk_load(box, from, 1024, &barrier);
}
USE(bulk_store, void* to) {
  BOX;
  bulk_store(to, box, 1024);
}
USE(bulk_reduce_add_f32, float* to) {
  alignas(128) __shared__ float part[64];
  bulk_reduce_add_f32(to, part, 256);
}
USE(bulk_prefetch, const void* from) { bulk_prefetch(from, 1024); }

#define RANK(rank, ...)                                             \
  extern "C" __global__ void rank_##rank(MAP, int c, uint64_t policy, uint16_t mask) { \
    BARRIER;                                                        \
    BOX;                                                            \
    tma_load_##rank##d(box, &map, &barrier, __VA_ARGS__);           \
    tma_load_hint_##rank##d(box, &map, &barrier, __VA_ARGS__, policy); \
    tma_load_##rank##d_multicast(box, &map, &barrier, __VA_ARGS__, mask); \
    tma_load_hint_##rank##d_multicast(box, &map, &barrier, __VA_ARGS__, mask, policy); \
    tma_store_##rank##d(&map, box, __VA_ARGS__);                    \
    tma_store_hint_##rank##d(&map, box, __VA_ARGS__, policy);       \
    tma_reduce_add_##rank##d(&map, box, __VA_ARGS__);               \
    tma_prefetch_##rank##d(&map, __VA_ARGS__);                      \
  }
RANK(1, c)
RANK(3, c, 1, 2)
RANK(4, c, 1, 2, 3)
RANK(5, c, 1, 2, 3, 4)

// ---- shared memory of the cluster, matrices ----
USE(load_remote, uint32_t* out, uint32_t remote) { out[0] = load_remote(remote); }
USE(store_remote, uint32_t remote) { store_remote(remote, 7); }
USE(store_remote_async, uint32_t remote, uint32_t barrier, uint4 value) { store_remote_async(remote, value, barrier); }
USE(bulk_copy_remote, uint32_t remote, uint32_t barrier) {
  BOX;
  bulk_copy_remote(remote, box, 1024, barrier);
}
USE(ldmatrix_x4, uint32_t* out, uint32_t from) {
  uint32_t r[4];
  ldmatrix_x4(r, from);
  out[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
}
USE(ldmatrix_x4_trans, uint32_t* out, uint32_t from) {
  uint32_t r[4];
  ldmatrix_x4_trans(r, from);
  out[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
}
USE(stmatrix_x4, uint32_t to, uint32_t a) { stmatrix_x4(to, a, a + 1, a + 2, a + 3); }
USE(stmatrix_x4_trans, uint32_t to, uint32_t a) { stmatrix_x4_trans(to, a, a + 1, a + 2, a + 3); }
USE(stmatrix_x2, uint32_t to, uint32_t a) { stmatrix_x2(to, a, a + 1); }

// ---- wgmma ----
USE(make_descriptor, uint64_t* out) {
  BOX;
  out[0] = make_descriptor<Swizzle::b128, Major::k, 128, 64>(box, 1, 1);
}
// A whole group with `issue` in its middle: D comes from memory and goes back.
template <typename T, int kRegisters, typename Issue>
__device__ __forceinline__ void product(T* x, Issue issue) {
  T d[kRegisters];
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    d[i] = x[i * 128 + threadIdx.x];
  }
  wgmma_fence();
  issue(d);
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_settle(d);
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    x[i * 128 + threadIdx.x] = d[i];
  }
}

#define SS(name, T, registers, ...)                                                   \
  USE(name, T* x, uint64_t a, uint64_t b, int accumulate) {                           \
    product<T, registers>(x, [&](T(&d)[registers]) { __VA_ARGS__(d, a, b, accumulate); }); \
  }
#define RS(name, T, registers, ...)                                                   \
  USE(name, T* x, uint4 words, uint64_t b, int accumulate) {                          \
    const uint32_t a[4] = {words.x, words.y, words.z, words.w};                       \
    product<T, registers>(x, [&](T(&d)[registers]) { __VA_ARGS__(d, a, b, accumulate); }); \
  }

#ifndef N
#define N 64
#endif
SS(wgmma_fence, float, N / 2, wgmma_m64k16<N, Input::bf16>)
SS(wgmma_commit, float, N / 2, wgmma_m64k16<N, Input::bf16>)
SS(wgmma_wait, float, N / 2, wgmma_m64k16<N, Input::bf16>)
SS(wgmma_settle, float, N / 2, wgmma_m64k16<N, Input::bf16>)
SS(wgmma_m64k16, float, N / 2, wgmma_m64k16<N, Input::bf16>)
RS(wgmma_m64k16_rs, float, N / 2, wgmma_m64k16_rs<N, Input::bf16>)
SS(wgmma_m64k16_f16, uint32_t, N / 4, wgmma_m64k16_f16<N>)
RS(wgmma_m64k16_f16_rs, uint32_t, N / 4, wgmma_m64k16_f16_rs<N>)
SS(wgmma_m64k32, float, N / 2, wgmma_m64k32<N, Input::e4m3>)
RS(wgmma_m64k32_rs, float, N / 2, wgmma_m64k32_rs<N, Input::e4m3>)
SS(wgmma_m64k8_tf32, float, N / 2, wgmma_m64k8_tf32<N>)
RS(wgmma_m64k8_tf32_rs, float, N / 2, wgmma_m64k8_tf32_rs<N>)
SS(wgmma_m64k32_s8, int, N / 2, wgmma_m64k32_s8<N>)
RS(wgmma_m64k32_s8_rs, int, N / 2, wgmma_m64k32_s8_rs<N>)
SS(wgmma_m64n64k16_bf16, float, 32, wgmma_m64n64k16_bf16)
RS(wgmma_m64n64k16_bf16_rs, float, 32, wgmma_m64n64k16_bf16_rs)
SS(wgmma_m64n256k16_bf16, float, 128, wgmma_m64n256k16_bf16)

// ---- the host's side ----
__global__ void kernel(MAP, int n) { (void)n; }

cudaError_t launches(const CUtensorMap& map, cudaStream_t stream) {
  cudaError_t error = allow_shared(kernel, kMaxSharedBytes);
  if (error == cudaSuccess) {
    error = launch_cluster(kernel, 64, 128, 2, kMaxSharedBytes, stream, map, 3);
  }
  if (error == cudaSuccess) {
    error = launch_cooperative(kernel, 64, 128, 0, stream, map, 3);
  }
  return error == cudaSuccess ? launch_dependent(kernel, 64, 128, 0, stream, map, 3) : error;
}

CUresult maps(CUtensorMap* map, const void* base, uint64_t rows, uint64_t columns) {
  CUresult result =
      make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 128>(map, base, {columns, rows}, {columns * 2});
  if (result == CUDA_SUCCESS) {
    result = make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT8, Swizzle::none, 256>(map, base, {columns}, {0});
  }
  return result;
}

// ---- arithmetic that needs no GPU, against the CPU models ----
template <int kBytes>
constexpr bool a_fragments_agree() {
  for (int thread = 0; thread < 128; ++thread) {
    for (int word = 0; word < 4; ++word) {
      const model::Register held = model::operand_a({a_row(thread, word), a_column<kBytes>(thread, word)}, kBytes);
      if (held.thread != thread || held.index != word * (4 / kBytes)) {
        return false;
      }
    }
  }
  return true;
}

constexpr bool d_fragments_agree() {
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < 32; ++i) {
      const model::Register held = model::accumulator({d_row(thread, i), d_column(thread, i)});
      if (held.thread != thread || held.index != i) {
        return false;
      }
    }
  }
  return true;
}

// A D of 16 columns becomes the A of one step word by word.
constexpr bool d_becomes_a() {
  for (int thread = 0; thread < 128; ++thread) {
    for (int word = 0; word < 4; ++word) {
      if (a_row(thread, word) != d_row(thread, 2 * word) || a_column(thread, word) != d_column(thread, 2 * word)) {
        return false;
      }
    }
  }
  return true;
}

constexpr bool swizzles_agree() {
  for (uint32_t row = 0; row < 64; ++row) {
    for (uint32_t chunk = 0; chunk < 8; ++chunk) {
      if (swizzled_128(2048, row, chunk) != 2048 + model::box_byte(model::Swizzle::b128, 128, row, chunk * 16)) {
        return false;
      }
    }
  }
  return true;
}

static_assert(a_fragments_agree<1>() && a_fragments_agree<2>() && a_fragments_agree<4>());
static_assert(d_fragments_agree() && d_becomes_a() && swizzles_agree());
