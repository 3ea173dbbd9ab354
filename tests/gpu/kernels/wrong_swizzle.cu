// Faulty on purpose: a WGMMA + TMA GEMM whose tensor maps and matrix descriptors name different swizzles.
//
// TMA writes the tiles row by row as they are (no swizzle); wgmma reads them in the 128-byte swizzle. Every address is inside
// its tile, so nothing crashes and memcheck has nothing to say: the values are wrong. Row r of a tile is read with its 16-byte
// chunks in the order c ^ (r % 8), so an element of C is right only where the rows of A and B agree in r % 8: one in eight.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>

constexpr int kTile = 128;   // rows and columns of C of a CTA: one warpgroup, two wgmma of 64 rows side by side
constexpr int kTileK = 64;   // 64 bf16 = 128 bytes: one row of the 128-byte swizzle
constexpr int kStages = 3;   // 32 KiB each, so that two CTAs share an SM
constexpr int kThreads = 128;
constexpr uint32_t kStageBytes = 2 * kTile * kTileK * sizeof(__nv_bfloat16);

struct __align__(1024) Shared {
  __nv_bfloat16 a[kStages][kTile * kTileK];
  __nv_bfloat16 b[kStages][kTile * kTileK];
  uint64_t full[kStages];
};
constexpr int kSharedBytes = sizeof(Shared) + 1024;  // the dynamic buffer is aligned by hand

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

__device__ __forceinline__ void load(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row) : "memory");
}

// K-major tile in the 128-byte swizzle: groups of 8 rows lie 1024 bytes apart.
__device__ __forceinline__ uint64_t descriptor(const void* tile) {
  return static_cast<uint64_t>((shared_address(tile) & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

#define ACC8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

// d[64x128] = a[64x16] * b[128x16]^T + (accumulate ? d : 0)
__device__ __forceinline__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n"
      "}\n"
      : ACC8(0), ACC8(8), ACC8(16), ACC8(24), ACC8(32), ACC8(40), ACC8(48), ACC8(56)
      : "l"(a), "l"(b), "r"(accumulate));
}

// Accumulator fragment of m64nNk16: warp w has rows 16w..16w+15, a thread rows lane/4 and lane/4+8, columns in pairs.
__device__ __forceinline__ void store(const float (&d)[64], __nv_bfloat16* c, int row, int column, int m, int n) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int r = row + threadIdx.x / 32 * 16 + lane / 4 + i % 2 * 8;
    const int col = column + i / 2 * 8 + lane % 4 * 2;
    if (r < m && col < n) {
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r) * n + col) = __floats2bfloat162_rn(d[2 * i], d[2 * i + 1]);
    }
  }
}

__global__ void __launch_bounds__(kThreads, 2)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* c, int m, int n,
         int k) {
  extern __shared__ uint8_t raw[];
  Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
  const int row = blockIdx.x * kTile;
  const int column = blockIdx.y * kTile;
  const int steps = (k + kTileK - 1) / kTileK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&shared.full[s])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  const auto fill = [&](int step) {
    uint64_t* full = &shared.full[step % kStages];
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full)), "r"(kStageBytes)
                 : "memory");
    load(shared.a[step % kStages], &map_a, full, step * kTileK, row);
    load(shared.b[step % kStages], &map_b, full, step * kTileK, column);
  };
  if (threadIdx.x == 0) {
    for (int step = 0; step < kStages && step < steps; ++step) {
      fill(step);
    }
  }

  float upper[64], lower[64];
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    wait(&shared.full[stage], step / kStages % 2);
    const uint64_t a = descriptor(shared.a[stage]);
    const uint64_t b = descriptor(shared.b[stage]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kTileK / 16; ++i) {
      multiply(upper, a + 2 * i, b + 2 * i, (step | i) != 0);
      multiply(lower, a + 2 * i + (64 * 128 >> 4), b + 2 * i, (step | i) != 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();  // every warp has read the stage
    if (threadIdx.x == 0 && step + kStages < steps) {
      fill(step + kStages);
    }
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    asm volatile("" : "+f"(upper[i]), "+f"(lower[i])::"memory");  // valid from the last wait on
  }
  store(upper, c, row, column, m, n);
  store(lower, c, row + 64, column, m, n);
}

static CUtensorMap tensor_map(const tvm::ffi::TensorView& matrix) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(matrix.size(1)), static_cast<cuuint64_t>(matrix.size(0))};
  const cuuint64_t strides[1] = {sizes[0] * sizeof(__nv_bfloat16)};
  const cuuint32_t box[2] = {kTileK, kTile};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result = cuTensorMapEncodeTiled(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix.data_ptr(), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      // FAULT: the descriptors say CU_TENSOR_MAP_SWIZZLE_128B
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TVM_FFI_ICHECK_EQ(static_cast<int>(result), static_cast<int>(CUDA_SUCCESS)) << "cuTensorMapEncodeTiled";
  return map;
}

static void check(cudaError_t error, const char* what) {
  TVM_FFI_ICHECK_EQ(static_cast<int>(error), static_cast<int>(cudaSuccess)) << what << ": " << cudaGetErrorString(error);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = static_cast<int>(a.size(0)), k = static_cast<int>(a.size(1)), n = static_cast<int>(b.size(0));
  check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "cudaFuncSetAttribute");
  const dim3 grid((m + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm<<<grid, kThreads, kSharedBytes, stream>>>(tensor_map(a), tensor_map(b), static_cast<__nv_bfloat16*>(c.data_ptr()), m, n,
                                                 k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
