// C[M,N] = A[M,K] * B[N,K]^T, correct and without any target instruction: tiles in shared memory, mma.sync through nvcuda::wmma.
//
// What a model writes that knows tensor cores but not Hopper: it must come out correct, and its proof absent. K is a multiple
// of 8 (16-byte loads) and N is even; M, N and K need not fill whole tiles.

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

namespace wmma = nvcuda::wmma;

constexpr int kTile = 128;       // rows and columns of C of a CTA
constexpr int kTileK = 32;       // elements of K of a step
constexpr int kPitch = kTileK + 8;  // padded rows: fewer bank conflicts
constexpr int kThreads = 256;    // 8 warps, 2 by 4, each with 64x32 of C
constexpr int kChunk = 8;        // bf16 in 16 bytes
constexpr int kLoads = kTile * kTileK / kChunk / kThreads;  // 16-byte loads of a thread, for A and for B each

// The thread's part of a tile of kTile rows and kTileK columns that starts at (row, column); zeros outside of the matrix.
__device__ __forceinline__ void fetch(uint4 (&part)[kLoads], const __nv_bfloat16* matrix, int row, int column, int rows, int k) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int chunk = threadIdx.x + i * kThreads;
    const int r = row + chunk / (kTileK / kChunk);
    const int c = column + chunk % (kTileK / kChunk) * kChunk;
    part[i] = make_uint4(0, 0, 0, 0);
    if (r < rows && c < k) {
      part[i] = __ldg(reinterpret_cast<const uint4*>(matrix + static_cast<size_t>(r) * k + c));
    }
  }
}

__device__ __forceinline__ void put(__nv_bfloat16* tile, const uint4 (&part)[kLoads]) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int chunk = threadIdx.x + i * kThreads;
    *reinterpret_cast<uint4*>(tile + chunk / (kTileK / kChunk) * kPitch + chunk % (kTileK / kChunk) * kChunk) = part[i];
  }
}

__global__ void __launch_bounds__(kThreads, 2)
    gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[kTile * kPitch];
  __shared__ __align__(16) __nv_bfloat16 tile_b[kTile * kPitch];
  __shared__ __align__(32) float scratch[kThreads / 32][16 * 16];
  const int row = blockIdx.x * kTile;
  const int column = blockIdx.y * kTile;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int top = warp / 4 * 64;
  const int left = warp % 4 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
  for (auto& line : sums) {
    for (auto& sum : line) {
      wmma::fill_fragment(sum, 0.0f);
    }
  }
  uint4 part_a[kLoads], part_b[kLoads];
  fetch(part_a, a, row, 0, m, k);
  fetch(part_b, b, column, 0, n, k);
  for (int step = 0; step < k; step += kTileK) {
    put(tile_a, part_a);
    put(tile_b, part_b);
    __syncthreads();
    fetch(part_a, a, row, step + kTileK, m, k);  // the next step's loads fly while this one multiplies
    fetch(part_b, b, column, step + kTileK, n, k);
#pragma unroll
    for (int inner = 0; inner < kTileK; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left_hand[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right_hand[2];
      for (int i = 0; i < 4; ++i) {
        wmma::load_matrix_sync(left_hand[i], tile_a + (top + i * 16) * kPitch + inner, kPitch);
      }
      for (int j = 0; j < 2; ++j) {
        wmma::load_matrix_sync(right_hand[j], tile_b + (left + j * 16) * kPitch + inner, kPitch);
      }
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) {
          wmma::mma_sync(sums[i][j], left_hand[i], right_hand[j], sums[i][j]);
        }
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(scratch[warp], sums[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int pair = lane; pair < 16 * 8; pair += 32) {
        const int r = row + top + i * 16 + pair / 8;
        const int col = column + left + j * 16 + pair % 8 * 2;
        if (r < m && col < n) {
          *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r) * n + col) =
              __floats2bfloat162_rn(scratch[warp][pair * 2], scratch[warp][pair * 2 + 1]);
        }
      }
      __syncwarp();
    }
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = static_cast<int>(a.size(0)), k = static_cast<int>(a.size(1)), n = static_cast<int>(b.size(0));
  const dim3 grid((m + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm<<<grid, kThreads, 0, stream>>>(static_cast<const __nv_bfloat16*>(a.data_ptr()),
                                      static_cast<const __nv_bfloat16*>(b.data_ptr()), static_cast<__nv_bfloat16*>(c.data_ptr()),
                                      m, n, k);
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaGetLastError()), static_cast<int>(cudaSuccess)) << "launch";
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
