// What the honest kernels beside this file share: names for single PTX instructions, a tile's main loop, and a call's arguments.
//
// All of them compute C[M,N] = A[M,K] * B[N,K]^T in bf16 with float32 sums. K is a multiple of 64 and N even; M and N need not fill
// whole tiles: TMA fills what lies outside with zeros.

#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>

using bf16 = __nv_bfloat16;

constexpr int kTileK = 64;  // 64 bf16 = 128 bytes: one row of the 128-byte swizzle

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// A block's dynamic shared memory as a structure on the 1024-byte boundary that the 128-byte swizzle needs.
template <typename T>
__device__ __forceinline__ T& aligned_shared(uint8_t* raw) {
  return *reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
}

template <typename T>
constexpr int kSharedBytes = sizeof(T) + 1024;

// ---- mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier") ----

__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the async proxy and to the cluster; by the thread that initialised them.
__device__ __forceinline__ void mbarrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ __forceinline__ void mbarrier_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Waits until the phase with this parity has completed. A fresh barrier counts as having completed parity 1.
__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// ---- TMA (PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor") ----

__device__ __forceinline__ void tma_load(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row) : "memory");
}

__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* from, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(column), "r"(row) : "memory");
}

__device__ __forceinline__ void tma_add(const CUtensorMap* map, const void* from, int column, int row) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(column), "r"(row) : "memory");
}

// Waits until the thread's bulk stores are complete; shared memory may then go.
__device__ __forceinline__ void tma_store_finish() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Makes the thread's writes to shared memory visible to the async proxy (TMA, wgmma).
__device__ __forceinline__ void async_proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions") ----

// Matrix descriptor of a K-major bf16 tile in the 128-byte swizzle: groups of 8 rows lie 1024 bytes apart (stride offset); the
// leading offset is not used in this layout. Sizes are in units of 16 bytes; bits 62-63 = 1: 128B swizzle. 16 columns of K are
// 2 units.
__device__ __forceinline__ uint64_t descriptor(const void* tile) {
  return static_cast<uint64_t>((shared_address(tile) & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define ACC8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define ACC32(i) ACC8(i), ACC8(i + 8), ACC8(i + 16), ACC8(i + 24)

// d[64xN] = a[64x16] * b[Nx16]^T + (accumulate ? d : 0), by a warpgroup; N is twice the thread's number of sums.
__device__ __forceinline__ void wgmma(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n}\n"
      : ACC32(0)
      : "l"(a), "l"(b), "r"(accumulate));
}

__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}\n"
      : ACC32(0), ACC32(32)
      : "l"(a), "l"(b), "r"(accumulate));
}

__device__ __forceinline__ void wgmma(float (&d)[96], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, p, 1, 1, 0, 0;\n}\n"
      : ACC32(0), ACC32(32), ACC32(64)
      : "l"(a), "l"(b), "r"(accumulate));
}

__device__ __forceinline__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0;\n}\n"
      : ACC32(0), ACC32(32), ACC32(64), ACC32(96)
      : "l"(a), "l"(b), "r"(accumulate));
}

// The compiler does not know that a wait is what makes the sums valid: keeps their uses behind this point.
template <int kSums>
__device__ __forceinline__ void settle(float (&d)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    asm volatile("" : "+f"(d[i])::"memory");
  }
}

// Calls use(row, column, left, right) for each of the thread's pairs of sums, row and column counted in the warpgroup's tile.
// Accumulator fragment of m64nNk16: warp w has rows 16w..16w+15, a thread rows lane/4 and lane/4+8, columns in pairs.
template <int kSums, typename Use>
__device__ __forceinline__ void for_each_pair(const float (&d)[kSums], Use use) {
  const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < kSums / 2; ++i) {
    use(row + i % 2 * 8, i / 2 * 8 + threadIdx.x % 4 * 2, d[2 * i], d[2 * i + 1]);
  }
}

// Rounds a warpgroup's tile into C.
template <int kSums>
__device__ __forceinline__ void store(const float (&d)[kSums], bf16* c, int row, int column, int m, int n) {
  for_each_pair(d, [&](int r, int col, float left, float right) {
    if (row + r < m && column + col < n) {
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(row + r) * n + column + col) = __floats2bfloat162_rn(left, right);
    }
  });
}

// ---- a tile's main loop ----

// A CTA of kWarpgroups warpgroups, each with 64 rows of a tile of 64*kWarpgroups by N. Thread 0 keeps a ring of stages in shared
// memory filled by TMA. `turn` counts the steps of all tiles that the CTA has done: the stage and its barrier's parity follow from
// it.
template <int N, int kWarpgroups, int kStages>
struct Tile {
  static constexpr int kM = 64 * kWarpgroups;
  static constexpr int kN = N;
  static constexpr int kThreads = 128 * kWarpgroups;
  static constexpr uint32_t kStageBytes = (kM + kN) * kTileK * sizeof(bf16);

  struct __align__(1024) Shared {
    bf16 a[kStages][kM * kTileK];
    bf16 b[kStages][kN * kTileK];
    uint64_t full[kStages];
  };

  // By every thread, before anything else.
  __device__ static void start(Shared& shared) {
    if (threadIdx.x == 0) {
      for (uint64_t& barrier : shared.full) {
        mbarrier_init(&barrier, 1);
      }
      mbarrier_init_fence();
    }
    __syncthreads();
  }

  // d = A[row.., from*64..to*64] * B[column.., the same]^T for this warpgroup's 64 rows; from < to. All threads leave together.
  __device__ static void multiply(float (&d)[kN / 2], Shared& shared, const CUtensorMap* map_a, const CUtensorMap* map_b, int row,
                                  int column, int from, int to, uint32_t& turn) {
    multiply(d, shared, from, to, turn, [&](bf16* a, bf16* b, uint64_t* full, int step) {
      tma_load(a, map_a, full, step * kTileK, row);
      tma_load(b, map_b, full, step * kTileK, column);
    });
  }

  // The same with load(a, b, full, step), by thread 0, in TMA's place: it sees to it that kStageBytes arrive at `full`.
  template <typename Load>
  __device__ static void multiply(float (&d)[kN / 2], Shared& shared, int from, int to, uint32_t& turn, Load load) {
    const auto fill = [&](int step, uint32_t at) {
      const uint32_t stage = at % kStages;
      mbarrier_expect(&shared.full[stage], kStageBytes);
      load(shared.a[stage], shared.b[stage], &shared.full[stage], step);
    };
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages - 1 && from + i < to; ++i) {
        fill(from + i, turn + i);
      }
    }
    __syncwarp();
    for (int step = from; step < to; ++step, ++turn) {
      const uint32_t stage = turn % kStages;
      mbarrier_wait(&shared.full[stage], turn / kStages % 2);
      const uint64_t a = descriptor(&shared.a[stage][threadIdx.x / 128 * 64 * kTileK]);
      const uint64_t b = descriptor(shared.b[stage]);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kTileK / 16; ++i) {
        wgmma(d, a + 2 * i, b + 2 * i, (step - from) | i);
      }
      wgmma_commit();
      wgmma_wait<1>();
      __syncthreads();  // every warpgroup has read the stage of the step before: it may be filled again
      if (threadIdx.x == 0 && step + kStages - 1 < to) {
        fill(step + kStages - 1, turn + kStages - 1);
      }
      __syncwarp();
    }
    wgmma_wait<0>();
    settle(d);
    __syncthreads();  // all stages are free
  }
};

// ---- the host's side ----

inline void check(cudaError_t error, const char* what) {
  TVM_FFI_ICHECK_EQ(static_cast<int>(error), static_cast<int>(cudaSuccess)) << what << ": " << cudaGetErrorString(error);
}

__host__ __device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

struct Call {
  int m, n, k;
  const bf16* a;
  const bf16* b;
  bf16* c;
  cudaStream_t stream;

  Call(const tvm::ffi::TensorView& left, const tvm::ffi::TensorView& right, const tvm::ffi::TensorView& out)
      : m(static_cast<int>(left.size(0))),
        n(static_cast<int>(right.size(0))),
        k(static_cast<int>(left.size(1))),
        a(static_cast<const bf16*>(left.data_ptr())),
        b(static_cast<const bf16*>(right.data_ptr())),
        c(static_cast<bf16*>(out.data_ptr())),
        stream(static_cast<cudaStream_t>(TVMFFIEnvGetStream(left.device().device_type, left.device().device_id))) {}
};

// Tensor map of a row-major matrix, moved in boxes of box_rows rows and 128 bytes, in the 128-byte swizzle unless told otherwise.
inline CUtensorMap tensor_map(const void* matrix, int rows, int columns, int box_rows,
                              CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                              CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  CUtensorMap map;
  const cuuint32_t element_bytes = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4 : 2;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[1] = {sizes[0] * element_bytes};
  const cuuint32_t box[2] = {128 / element_bytes, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result =
      cuTensorMapEncodeTiled(&map, type, 2, const_cast<void*>(matrix), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TVM_FFI_ICHECK_EQ(static_cast<int>(result), static_cast<int>(CUDA_SUCCESS)) << "cuTensorMapEncodeTiled";
  return map;
}

template <typename Kernel>
void allow_shared(Kernel kernel, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
}

inline int sm_count() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return count;
}
