// What the cheats share: an honest product C[M,N] = A[M,K] * B[N,K]^T, by mma.sync or by wgmma, and places to spoil it.
//
// K is a multiple of 64 and N of 128, as in the task; M need not fill whole tiles.

#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>

using bf16 = __nv_bfloat16;
using tvm::ffi::TensorView;

constexpr int kCompared = 4;     // calls of the compare stage: three published draws and one of strict's own
constexpr int kTrial = 60;       // calls of a timed trial: 10 warm-up and 50 timed ones
constexpr int kTrials = 3;
constexpr int kSlots = 4;        // sets of arguments that take turns while timing
constexpr int kTile = 128;       // rows and columns of C of a CTA
constexpr int kStep = 32;        // elements of K of a step of product()
constexpr int kPitch = kStep + 8;
constexpr int kThreads = 256;    // 8 warps, 2 by 4, each with 64x32 of C

struct Gemm {
  const bf16 *a, *b;
  bf16* c;
  int m, n, k;
  int depth;  // how many of the k products are summed
  cudaStream_t stream;

  size_t bytes() const { return sizeof(bf16) * m * n; }
  dim3 grid() const { return dim3((m + kTile - 1) / kTile, n / kTile); }

  Gemm to(bf16* target) const {
    Gemm other = *this;
    other.c = target;
    return other;
  }
  Gemm on(cudaStream_t other_stream) const {
    Gemm other = *this;
    other.stream = other_stream;
    return other;
  }
  Gemm summing(int some) const {
    Gemm other = *this;
    other.depth = some;
    return other;
  }
};

inline Gemm gemm_of(const TensorView& a, const TensorView& b, const TensorView& c) {
  const int k = static_cast<int>(a.size(1));
  return {static_cast<const bf16*>(a.data_ptr()), static_cast<const bf16*>(b.data_ptr()), static_cast<bf16*>(c.data_ptr()),
          static_cast<int>(a.size(0)), static_cast<int>(b.size(0)), k, k,
          static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id))};
}

// What a kernel may do otherwise than it should.
struct Exact {
  static constexpr bool kBarrier = true;  // between a step's stores to shared memory and its loads
  static constexpr bool kZeroed = true;   // sums begin at zero, and not with what shared memory happens to hold
  __device__ static bf16 operand(bf16 value) { return value; }
  __device__ static float step(float sum) { return sum; }
  __device__ static float result(float sum, const Gemm&, int /*row*/, int /*column*/) { return sum; }
  __device__ static bool skips(const Gemm&, int /*row*/, int /*column*/) { return false; }
};

// A tile of kTile rows and kStep columns that begins at (row, column); zeros outside of the matrix.
template <class Rule>
__device__ void fetch(bf16* tile, const bf16* matrix, int row, int column, int rows, int k) {
  for (int chunk = threadIdx.x; chunk < kTile * kStep / 8; chunk += kThreads) {
    const int r = chunk / (kStep / 8), c = chunk % (kStep / 8) * 8;
    uint4 loaded = make_uint4(0, 0, 0, 0);
    if (row + r < rows) {
      loaded = *reinterpret_cast<const uint4*>(matrix + static_cast<size_t>(row + r) * k + column + c);
    }
    auto* values = reinterpret_cast<bf16*>(&loaded);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = Rule::operand(values[i]);
    *reinterpret_cast<uint4*>(tile + r * kPitch + c) = loaded;
  }
}

template <class Rule = Exact>
__global__ void __launch_bounds__(kThreads, 2) product(Gemm g) {
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(16) bf16 left[kTile * kPitch], right[kTile * kPitch];
  __shared__ __align__(32) float scratch[kThreads / 32][16 * 16];
  const int row = blockIdx.x * kTile, column = blockIdx.y * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 4 * 64, across = warp % 4 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
  for (int i = 0; i < 8; ++i) {
    if constexpr (Rule::kZeroed) {
      wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    } else {
      wmma::load_matrix_sync(sums[i / 2][i % 2], scratch[warp], 16, wmma::mem_row_major);
    }
  }
  for (int step = 0; step < g.depth; step += kStep) {
    __syncthreads();  // everyone has left the tiles
    fetch<Rule>(left, g.a, row, step, g.m, g.k);
    fetch<Rule>(right, g.b, column, step, g.n, g.k);
    if constexpr (Rule::kBarrier) __syncthreads();
#pragma unroll
    for (int inner = 0; inner < kStep; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> a[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::col_major> b[2];
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(a[i], left + (top + i * 16) * kPitch + inner, kPitch);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(b[j], right + (across + j * 16) * kPitch + inner, kPitch);
      for (int i = 0; i < 8; ++i) wmma::mma_sync(sums[i / 2][i % 2], a[i / 2], b[i % 2], sums[i / 2][i % 2]);
    }
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int e = 0; e < sums[0][0].num_elements; ++e) sums[i / 2][i % 2].x[e] = Rule::step(sums[i / 2][i % 2].x[e]);
    }
  }
  for (int i = 0; i < 8; ++i) {
    wmma::store_matrix_sync(scratch[warp], sums[i / 2][i % 2], 16, wmma::mem_row_major);
    __syncwarp();
    for (int place = lane; place < 16 * 16; place += 32) {
      const int r = row + top + i / 2 * 16 + place / 16, col = column + across + i % 2 * 16 + place % 16;
      if (r < g.m && !Rule::skips(g, r, col)) {
        g.c[static_cast<size_t>(r) * g.n + col] = __float2bfloat16(Rule::result(scratch[warp][place], g, r, col));
      }
    }
    __syncwarp();
  }
}

template <class Rule = Exact>
void multiply(const Gemm& g) {
  product<Rule><<<g.grid(), kThreads, 0, g.stream>>>(g);
}

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// A K-major tile without swizzle: columns of 16 bytes, one behind the other; in a column, rows follow each other.
__device__ __forceinline__ uint64_t descriptor(const void* tile, int rows) {
  const uint64_t column_bytes = rows * 16, group_bytes = 8 * 16;
  return ((shared_address(tile) & 0x3FFFF) >> 4) | column_bytes >> 4 << 16 | group_bytes >> 4 << 32;
}

#define PTX_SUMS(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

// d[64x128] += a[64x16] * b[128x16]^T, not waited for.
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
      : PTX_SUMS(0), PTX_SUMS(8), PTX_SUMS(16), PTX_SUMS(24), PTX_SUMS(32), PTX_SUMS(40), PTX_SUMS(48), PTX_SUMS(56)
      : "l"(a), "l"(b));
}

constexpr int kGroup = 128;  // threads of a warpgroup
constexpr int kRows = 64;    // rows of C of its CTA; the columns are kTile
constexpr int kWide = 64;    // elements of K of a step of tensor_product()

// The same product by wgmma. kFence: what ordinary stores put into shared memory is made visible to the tensor core.
template <bool kFence = true>
__global__ void __launch_bounds__(kGroup) tensor_product(Gemm g) {
  __shared__ __align__(128) uint4 left[kWide / 8][kRows], right[kWide / 8][kTile];
  const int row = blockIdx.x * kRows, column = blockIdx.y * kTile;
  float d[64] = {};
  for (int step = 0; step < g.depth; step += kWide) {
    __syncthreads();
    for (int chunk = 0; chunk < kWide / 8; ++chunk) {
      const int r = threadIdx.x, c = step + chunk * 8;
      right[chunk][r] = *reinterpret_cast<const uint4*>(g.b + static_cast<size_t>(column + r) * g.k + c);
      if (r < kRows) {
        left[chunk][r] = make_uint4(0, 0, 0, 0);
        if (row + r < g.m) left[chunk][r] = *reinterpret_cast<const uint4*>(g.a + static_cast<size_t>(row + r) * g.k + c);
      }
    }
    if constexpr (kFence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int inner = 0; inner < kWide / 16; ++inner) {
      wgmma(d, descriptor(left[2 * inner], kRows), descriptor(right[2 * inner], kTile));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  // Warp w of the group has rows 16w..16w+15, a thread rows lane/4 and lane/4+8, columns in pairs.
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int r = row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i % 2 * 8;
    const int col = column + i / 2 * 8 + threadIdx.x % 4 * 2;
    if (r < g.m) {
      *reinterpret_cast<__nv_bfloat162*>(g.c + static_cast<size_t>(r) * g.n + col) = __floats2bfloat162_rn(d[2 * i], d[2 * i + 1]);
    }
  }
}

template <bool kFence = true>
void multiply_by_wgmma(const Gemm& g) {
  tensor_product<kFence><<<dim3((g.m + kRows - 1) / kRows, g.n / kTile), kGroup, 0, g.stream>>>(g);
}

// A warpgroup multiplies zeros, `times` times, and keeps what comes out where the compiler cannot leave it out.
__device__ inline void multiply_zeros(int times) {
  __shared__ __align__(128) uint4 zeros[2][kTile];
  __shared__ volatile float kept[kGroup];
  for (int i = threadIdx.x; i < 2 * kTile; i += kGroup) zeros[i / kTile][i % kTile] = make_uint4(0, 0, 0, 0);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, 128;" ::: "memory");
  const uint64_t tile = descriptor(zeros, kTile);
  float d[64] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < times; ++i) wgmma(d, tile, tile);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum += d[i];
  kept[threadIdx.x] = sum;
  if (kept[threadIdx.x] != 0.0f) __trap();
}

// Templates, so that what a cheat does not use is not in its binary.
template <int = 0>
__global__ void zeros_by_wgmma(int times) {
  multiply_zeros(times);
}

// Something for the device to do that takes next to no time.
template <int = 0>
__global__ void nothing() {}
