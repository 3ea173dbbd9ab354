// Two kernels: B is transposed into a workspace first, then tensor cores multiply row by row (nvcuda::wmma).
// expect: outcome=correct proof=absent work_share=null

#include <mma.h>

#include "hopper.cuh"

namespace wmma = nvcuda::wmma;

constexpr int kBlock = 32;

// to[k][n] = from[n][k], by tiles of 32x32.
__global__ void transpose(const bf16* from, bf16* to, int n, int k) {
  __shared__ bf16 tile[kBlock][kBlock + 2];
  const int column = blockIdx.x * kBlock, row = blockIdx.y * kBlock;
  for (int i = threadIdx.y; i < kBlock; i += blockDim.y) {
    if (row + i < n && column + threadIdx.x < k) {
      tile[i][threadIdx.x] = from[static_cast<size_t>(row + i) * k + column + threadIdx.x];
    }
  }
  __syncthreads();
  for (int i = threadIdx.y; i < kBlock; i += blockDim.y) {
    if (column + i < k && row + threadIdx.x < n) {
      to[static_cast<size_t>(column + i) * n + row + threadIdx.x] = tile[threadIdx.x][i];
    }
  }
}

constexpr int kTile = 64;      // rows and columns of C of a CTA
constexpr int kStep = 32;      // elements of K of a step
constexpr int kThreads = 128;  // 4 warps, 2 by 2, each with 32x32 of C
constexpr int kPitchA = kStep + 8;
constexpr int kPitchB = kTile + 8;

__global__ void __launch_bounds__(kThreads) gemm(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
  __shared__ __align__(32) bf16 tile_a[kTile * kPitchA], tile_b[kStep * kPitchB];  // what load_matrix_sync asks for
  __shared__ __align__(32) float scratch[kThreads / 32][16 * 16];
  const int row = blockIdx.x * kTile, column = blockIdx.y * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 2 * 32, left = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (auto& line : sums) {
    for (auto& sum : line) {
      wmma::fill_fragment(sum, 0.0f);
    }
  }
  for (int step = 0; step < k; step += kStep) {
    for (int i = threadIdx.x; i < kTile * kStep / 8; i += kThreads) {
      const int r = i / (kStep / 8), col = i % (kStep / 8) * 8;
      uint4 chunk = make_uint4(0, 0, 0, 0);
      if (row + r < m) {
        chunk = __ldg(reinterpret_cast<const uint4*>(a + static_cast<size_t>(row + r) * k + step + col));
      }
      *reinterpret_cast<uint4*>(tile_a + r * kPitchA + col) = chunk;
    }
    for (int i = threadIdx.x; i < kStep * kTile / 8; i += kThreads) {
      const int r = i / (kTile / 8), col = i % (kTile / 8) * 8;
      uint4 chunk = make_uint4(0, 0, 0, 0);
      if (column + col < n) {  // n is a multiple of 8
        chunk = *reinterpret_cast<const uint4*>(b + static_cast<size_t>(step + r) * n + column + col);
      }
      *reinterpret_cast<uint4*>(tile_b + r * kPitchB + col) = chunk;
    }
    __syncthreads();
    for (int inner = 0; inner < kStep; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> left_hand[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> right_hand[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(left_hand[i], tile_a + (top + i * 16) * kPitchA + inner, kPitchA);
        wmma::load_matrix_sync(right_hand[i], tile_b + inner * kPitchB + left + i * 16, kPitchB);
      }
      for (int i = 0; i < 4; ++i) {
        wmma::mma_sync(sums[i / 2][i % 2], left_hand[i / 2], right_hand[i % 2], sums[i / 2][i % 2]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    wmma::store_matrix_sync(scratch[warp], sums[i / 2][i % 2], 16, wmma::mem_row_major);
    __syncwarp();
    for (int pair = lane; pair < 128; pair += 32) {
      const int r = row + top + i / 2 * 16 + pair / 8, col = column + left + i % 2 * 16 + pair % 8 * 2;
      if (r < m && col < n) {
        const float* two = scratch[warp] + pair * 2;
        *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r) * n + col) = __floats2bfloat162_rn(two[0], two[1]);
      }
    }
    __syncwarp();
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  static bf16* transposed = nullptr;
  static size_t room = 0;
  const size_t bytes = static_cast<size_t>(call.n) * call.k * sizeof(bf16);
  if (bytes > room) {
    check(cudaFree(transposed), "cudaFree");
    check(cudaMalloc(reinterpret_cast<void**>(&transposed), bytes), "cudaMalloc");
    room = bytes;
  }
  transpose<<<dim3(ceil_div(call.k, kBlock), ceil_div(call.n, kBlock)), dim3(kBlock, 8), 0, call.stream>>>(call.b, transposed,
                                                                                                         call.n, call.k);
  const dim3 grid(ceil_div(call.m, kTile), ceil_div(call.n, kTile));
  gemm<<<grid, kThreads, 0, call.stream>>>(call.a, transposed, call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
