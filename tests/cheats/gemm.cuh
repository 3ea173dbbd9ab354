// What the cheats share: an honest product C[M,N] = A[M,K] * B[N,K]^T, by mma.sync or by wgmma, and places to spoil it.
//
// K is a multiple of 64 and N of 128, as in the task; M need not fill whole tiles.

#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
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
constexpr int kThreads = 256;    // 8 warps, 2 by 4, each with 64x32 of C: 4 by 4 fragments of 16x8

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
#pragma unroll
  for (int i = 0; i < kTile * kStep / 8 / kThreads; ++i) {
    const int chunk = i * kThreads + threadIdx.x, r = chunk / (kStep / 8), c = chunk % (kStep / 8) * 8;
    uint4 loaded = make_uint4(0, 0, 0, 0);
    if (row + r < rows) {
      loaded = *reinterpret_cast<const uint4*>(matrix + static_cast<size_t>(row + r) * k + column + c);
    }
    auto* values = reinterpret_cast<bf16*>(&loaded);
#pragma unroll
    for (int e = 0; e < 8; ++e) values[e] = Rule::operand(values[e]);
    *reinterpret_cast<uint4*>(tile + r * kPitch + c) = loaded;
  }
}

// sum[16x8] += a[16x16] * b[8x16]^T. A lane has rows lane/4 and lane/4+8, and pairs of columns 2*(lane%4) of each half.
__device__ __forceinline__ void mma(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ uint32_t pair(const bf16* tile, int row, int column) {
  return *reinterpret_cast<const uint32_t*>(tile + row * kPitch + column);
}

template <class Rule = Exact>
__global__ void __launch_bounds__(kThreads, 2) product(Gemm g) {
  __shared__ __align__(16) bf16 left[kTile * kPitch], right[kTile * kPitch];
  const int row = blockIdx.x * kTile, column = blockIdx.y * kTile;
  const int warp = threadIdx.x / 32, line = threadIdx.x % 32 / 4, place = threadIdx.x % 4 * 2;
  const int top = warp / 4 * 64, across = warp % 4 * 32;

  float sums[4][4][4];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    sums[i / 16][i / 4 % 4][i % 4] = Rule::kZeroed ? 0.0f : reinterpret_cast<volatile float*>(right)[threadIdx.x];
  }
  for (int step = 0; step < g.depth; step += kStep) {
    __syncthreads();  // everyone has left the tiles
    fetch<Rule>(left, g.a, row, step, g.m, g.k);
    fetch<Rule>(right, g.b, column, step, g.n, g.k);
    if constexpr (Rule::kBarrier) __syncthreads();
#pragma unroll
    for (int inner = place; inner < kStep; inner += 16) {
      uint32_t a[4][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int r = top + i * 16 + line, c = across + i * 8 + line;
        for (int part = 0; part < 4; ++part) a[i][part] = pair(left, r + part % 2 * 8, inner + part / 2 * 8);
        for (int part = 0; part < 2; ++part) b[i][part] = pair(right, c, inner + part * 8);
      }
#pragma unroll
      for (int i = 0; i < 16; ++i) mma(sums[i / 4][i % 4], a[i / 4], b[i % 4]);
    }
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      float& sum = sums[i / 16][i / 4 % 4][i % 4];
      sum = Rule::step(sum);
    }
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    const int r = row + top + i / 16 * 16 + line + i / 2 % 2 * 8, c = column + across + i / 4 % 4 * 8 + place + i % 2;
    if (r < g.m && !Rule::skips(g, r, c)) {
      g.c[static_cast<size_t>(r) * g.n + c] = __float2bfloat16(Rule::result(sums[i / 16][i / 4 % 4][i % 4], g, r, c));
    }
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

// d[64x128] += a[64x16] * b[128x16]^T, not waited for.
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
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
