// Tensor cores by mma.sync alone: cp.async into padded rows, ldmatrix, mma.m16n8k16.
// expect: outcome=correct proof=absent work_share=null

#include "hopper.cuh"

constexpr int kTile = 128;  // rows and columns of C of a CTA
constexpr int kStep = 32;   // elements of K of a step
constexpr int kPitch = kStep + 8;  // 80 bytes: the 8 rows of an ldmatrix lie in different banks
constexpr int kStages = 3;
constexpr int kThreads = 256;  // 8 warps, 2 by 4, each with 64x32 of C

// 16 bytes of a row, or zeros where there is no such row (PTX ISA, "cp.async": bytes that the source lacks are zeros).
__device__ __forceinline__ void copy_chunk(bf16* to, const bf16* from, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)),
               "r"(exists ? 16 : 0) : "memory");
}

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&to)[4], const bf16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

struct __align__(16) Shared {
  bf16 a[kStages][kTile * kPitch];
  bf16 b[kStages][kTile * kPitch];
};

__device__ __forceinline__ void fetch(bf16* tile, const bf16* matrix, int first, int rows, int k, int step) {
#pragma unroll
  for (int i = threadIdx.x; i < kTile * kStep / 8; i += kThreads) {
    const int r = i / (kStep / 8), column = i % (kStep / 8) * 8, row = min(first + r, rows - 1);
    copy_chunk(tile + r * kPitch + column, matrix + static_cast<size_t>(row) * k + step * kStep + column, first + r < rows);
  }
}

__global__ void __launch_bounds__(kThreads, 2) gemm(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = *reinterpret_cast<Shared*>(raw);
  const int row = blockIdx.x * kTile, column = blockIdx.y * kTile, steps = k / kStep;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 4 * 64, left = warp % 4 * 32;
  // One group a step, empty ones at the end, so that "all but the last" always means the same step.
  const auto fill = [&](int step) {
    if (step < steps) {
      fetch(shared.a[step % kStages], a, row, m, k, step);
      fetch(shared.b[step % kStages], b, column, n, k, step);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int step = 0; step < kStages - 1; ++step) {
    fill(step);
  }
  float d[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();  // everybody's part of this step is there, and the step before has been read
    fill(step + kStages - 1);
    const bf16* tile_a = shared.a[step % kStages];
    const bf16* tile_b = shared.b[step % kStages];
#pragma unroll
    for (int inner = 0; inner < kStep; inner += 16) {
      uint32_t left_hand[4][4], right_hand[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        ldmatrix_x4(left_hand[i], tile_a + (top + i * 16 + lane % 16) * kPitch + inner + lane / 16 * 8);
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        // Matrices: columns 0-7 of C with both halves of K, then columns 8-15.
        ldmatrix_x4(right_hand[j], tile_b + (left + j * 16 + lane / 16 * 8 + lane % 8) * kPitch + inner + lane / 8 % 2 * 8);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma(d[i][j], left_hand[i], right_hand[j / 2][j % 2 * 2], right_hand[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + top + i * 16 + lane / 4 + half * 8, col = column + left + j * 8 + lane % 4 * 2;
        if (r < m && col < n) {
          *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r) * n + col) =
              __floats2bfloat162_rn(d[i][j][half * 2], d[i][j][half * 2 + 1]);
        }
      }
    }
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, sizeof(Shared));
  const dim3 grid(ceil_div(call.m, kTile), ceil_div(call.n, kTile));
  gemm<<<grid, kThreads, sizeof(Shared), call.stream>>>(call.a, call.b, call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
