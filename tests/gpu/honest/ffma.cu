// CUDA cores alone: float32 FMAs on tiles of 64x64 in shared memory.
// expect: outcome=correct proof=absent work_share=null

#include "hopper.cuh"

constexpr int kTile = 64;      // rows and columns of C of a CTA
constexpr int kStep = 16;      // elements of K of a step
constexpr int kThreads = 256;  // 16 by 16, each with 4x4 of C

// 16 rows of 4 bf16 a warp: a tile of 64x16 in one go, widened and transposed; zeros where there is no such row.
__device__ __forceinline__ void fetch(float (&tile)[kStep][kTile + 4], const bf16* matrix, int first, int rows, int k, int step) {
  const int r = threadIdx.x / 4, column = threadIdx.x % 4 * 4;
  uint2 packed = make_uint2(0, 0);
  if (first + r < rows) {
    packed = __ldg(reinterpret_cast<const uint2*>(matrix + static_cast<size_t>(first + r) * k + step * kStep + column));
  }
  const auto* values = reinterpret_cast<const bf16*>(&packed);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    tile[column + i][r] = __bfloat162float(values[i]);
  }
}

__global__ void __launch_bounds__(kThreads) gemm(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
  __shared__ __align__(16) float tile_a[kStep][kTile + 4], tile_b[kStep][kTile + 4];  // padded; rows stay 16-byte aligned
  const int row = blockIdx.x * kTile, column = blockIdx.y * kTile;
  const int down = threadIdx.x / 16 * 4, across = threadIdx.x % 16 * 4;
  float d[4][4] = {};
  for (int step = 0; step < k / kStep; ++step) {
    fetch(tile_a, a, row, m, k, step);
    fetch(tile_b, b, column, n, k, step);
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < kStep; ++inner) {
      const float4 left = *reinterpret_cast<const float4*>(&tile_a[inner][down]);
      const float4 right = *reinterpret_cast<const float4*>(&tile_b[inner][across]);
      const float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        d[i / 4][i % 4] = fmaf(l[i / 4], r[i % 4], d[i / 4][i % 4]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int r = row + down + i / 2, col = column + across + i % 2 * 2;
    if (r < m && col < n) {
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r) * n + col) =
          __floats2bfloat162_rn(d[i / 2][i % 2 * 2], d[i / 2][i % 2 * 2 + 1]);
    }
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  const dim3 grid(ceil_div(call.m, kTile), ceil_div(call.n, kTile));
  gemm<<<grid, kThreads, 0, call.stream>>>(call.a, call.b, call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
