// C[M,N] = A[M,K] * B[N,K]^T on Hopper (sm_90a): bf16 in, float32 accumulation, bf16 out.
//
// One CTA per SM walks over 128x256 tiles of C. Warpgroup 0 is the producer: one of its threads fills a ring of
// shared-memory stages by TMA. Warpgroups 1 and 2 are consumers: each multiplies its 64 rows of A with the 256 rows
// of B by wgmma.m64n256k16 and keeps 64x256 float32 accumulators in registers (128 a thread). When a tile is done, each warp
// rounds its 16 rows to bf16, lays them down in shared memory by stmatrix, 64 columns at a time, and TMA takes them away
// while the next tile is already being multiplied.
//
//   full[s]      the producer's TMA bytes of stage s have landed        (1 arrival + 49152 bytes a phase)
//   empty[s]     both consumer warpgroups have finished reading stage s (2 arrivals a phase)
//   bulk groups  a warp's stores, one group a box: before a box is written again, its last store must have been read
//
// Requirements: K a positive multiple of 8 (TMA strides are multiples of 16 bytes), N even. M, N and K need not fill whole
// tiles: TMA fills what lies outside with zeros and does not store there. Rows of C that are no multiple of 16 bytes (N % 8)
// cannot be stored by TMA; the threads then write their own elements.
//
// What each of these is worth was measured: docs/design/gemm-hopper.md.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>

constexpr int kTileM = 128;
constexpr int kTileN = 256;
constexpr int kTileK = 64;  // 64 bf16 = 128 bytes: one row of the 128-byte swizzle atom
constexpr int kStages = 4;
constexpr int kConsumers = 2;                     // warpgroups, 64 rows of C each
constexpr int kThreads = 128 * (1 + kConsumers);  // one producer warpgroup in front
constexpr int kGroupM = 16;                       // tile rows walked together, so that their tiles of A and B stay in L2
constexpr int kBoxRows = 16;                      // of C, of one warp
constexpr int kBoxColumns = 64;                   // 128 bytes again
constexpr int kBoxes = 2;                         // a warp fills one while TMA reads the other

constexpr uint32_t kBytesA = kTileM * kTileK * sizeof(__nv_bfloat16);
constexpr uint32_t kBytesB = kTileN * kTileK * sizeof(__nv_bfloat16);

// The 128-byte swizzle repeats every 1024 bytes, and descriptors assume that a tile starts on such a boundary.
struct __align__(1024) Shared {
  __nv_bfloat16 a[kStages][kTileM * kTileK];
  __nv_bfloat16 b[kStages][kTileN * kTileK];
  __nv_bfloat16 c[kConsumers * 4][kBoxes][kBoxRows * kBoxColumns];
  uint64_t full[kStages];
  uint64_t empty[kStages];
};
static_assert(kBytesA % 1024 == 0 && kBytesB % 1024 == 0, "every stage must start on a swizzle boundary");
constexpr int kSharedBytes = sizeof(Shared) + 1024;  // the dynamic buffer itself is aligned by hand below
static_assert(kSharedBytes <= 227 * 1024, "more shared memory than a block of sm_90 may have");

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier") ----

__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}

__device__ __forceinline__ void mbarrier_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Wait until the phase with this parity has completed. A fresh barrier counts as having completed parity 1.
__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// ---- TMA (PTX ISA, "cp.async.bulk.tensor") ----

// What L2 shall give up first (PTX ISA, "createpolicy"): what is read or written once for a long time.
__device__ __forceinline__ uint64_t evict_first() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void tma_load(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row) : "memory");
}

__device__ __forceinline__ void tma_load(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row,
                                         uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row), "l"(policy) : "memory");
}

// One store is one bulk group of the thread.
__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* from, int column, int row, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3}], [%1], %4;\n"
      "cp.async.bulk.commit_group;" ::"l"(map),
      "r"(shared_address(from)), "r"(column), "r"(row), "l"(policy) : "memory");
}

// Wait until all but the last kPending bulk groups of this thread have read their shared memory.
template <int kPending>
__device__ __forceinline__ void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// ---- wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions") ----

// Matrix descriptor of a K-major bf16 tile in the 128-byte swizzle: groups of 8 rows lie 1024 bytes apart (stride
// offset); the leading offset is not used in this layout. Sizes are in units of 16 bytes; bits 62-63 = 1: 128B swizzle.
__device__ __forceinline__ uint64_t descriptor(const void* tile) {
  constexpr uint64_t kStride = 1024 >> 4;
  return static_cast<uint64_t>((shared_address(tile) & 0x3FFFF) >> 4) | (1ull << 16) | (kStride << 32) | (1ull << 62);
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

// d[64x256] = a[64x16] * b[256x16]^T + (accumulate ? d : 0)
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0;\n"
      "}\n"
      : ACC32(0), ACC32(32), ACC32(64), ACC32(96)
      : "l"(a), "l"(b), "r"(accumulate));
}

// ---- epilogue ----

__device__ __forceinline__ uint32_t pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

// Four 8x8 matrices of bf16 pairs; lane l gives the address of row l % 8 of matrix l / 8 (PTX ISA, "stmatrix").
__device__ __forceinline__ void stmatrix_x4(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

// A warp's 16x256 of C through its boxes. Accumulator fragment of m64nNk16: in each group of 8 columns a thread has the pair
// 2*(lane%4), 2*(lane%4)+1 of rows lane/4 and lane/4+8, which is what stmatrix takes.
__device__ __forceinline__ void store_by_tma(const float (&d)[128], __nv_bfloat16 (&boxes)[kBoxes][kBoxRows * kBoxColumns],
                                             const CUtensorMap* map, int column, int row, uint64_t policy) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int part = 0; part < kTileN / kBoxColumns; ++part) {
    const __nv_bfloat16* box = boxes[part % kBoxes];
    if (lane == 0) {
      tma_store_wait<kBoxes - 1>();  // all but the last store have been read, so this box is free
    }
    __syncwarp();
    // The 128-byte swizzle, by hand: chunk of 16 bytes x of row y lies where chunk x ^ (y % 8) would.
    const uint32_t line = shared_address(box) + lane % 16 * 128;
#pragma unroll
    for (int pair = 0; pair < kBoxColumns / 16; ++pair) {
      const float* v = d + (part * kBoxColumns + pair * 16) / 2;
      stmatrix_x4(line + (((2 * pair + lane / 16) ^ (lane % 8)) * 16), pack(v[0], v[1]), pack(v[2], v[3]), pack(v[4], v[5]),
                  pack(v[6], v[7]));
    }
    // Every lane makes its part of the box visible to TMA before one of them starts it.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0) {
      tma_store(map, box, column + part * kBoxColumns, row, policy);
    }
  }
}

// The same without TMA: every thread writes its pairs.
__device__ __forceinline__ void store_by_threads(const float (&d)[128], __nv_bfloat16* c, int column, int row, int m, int n) {
  const int lane = threadIdx.x % 32;
  const int left = column + lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int r = row + lane / 4 + half * 8;
    __nv_bfloat16* line = c + static_cast<size_t>(r) * n;
#pragma unroll
    for (int j = 0; j < kTileN / 8; ++j) {
      if (r < m && left + j * 8 < n) {
        *reinterpret_cast<__nv_bfloat162*>(line + left + j * 8) =
            __floats2bfloat162_rn(d[j * 4 + half * 2], d[j * 4 + half * 2 + 1]);
      }
    }
  }
}

// Tiles are numbered so that kGroupM tile rows are walked together, column by column.
__device__ __forceinline__ void tile_origin(int tile, int tiles_m, int tiles_n, int* row, int* column) {
  const int per_group = kGroupM * tiles_n;
  const int first = tile / per_group * kGroupM;
  const int height = min(kGroupM, tiles_m - first);
  const int inside = tile % per_group;
  *row = (first + inside % height) * kTileM;
  *column = inside / height * kTileN;
}

__global__ void __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap map_c, __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});

  const int warpgroup = threadIdx.x / 128;
  const int tiles_m = (m + kTileM - 1) / kTileM;
  const int tiles_n = (n + kTileN - 1) / kTileN;
  const int steps = (k + kTileK - 1) / kTileK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(&shared.full[s], 1);
      mbarrier_init(&shared.empty[s], kConsumers);
    }
    // TMA belongs to the async proxy: it must see initialised barriers.
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (warpgroup == 0) {
    // The producer needs few registers; what it gives back makes room for the consumers' accumulators.
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      const uint64_t once = evict_first();
      int stage = 0;
      uint32_t parity = 0;
      bool backward = false;
      for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
        int row, column;
        tile_origin(tile, tiles_m, tiles_n, &row, &column);
        for (int step = 0; step < steps; ++step) {
          // Every other tile is walked from its end: the CTAs' next tiles have mostly the same rows of A, and the columns
          // of A that were read last are still in L2. B is different each time, and goes first when L2 needs room.
          const int from = (backward ? steps - 1 - step : step) * kTileK;
          mbarrier_wait(&shared.empty[stage], parity ^ 1);
          mbarrier_expect(&shared.full[stage], kBytesA + kBytesB);
          tma_load(shared.a[stage], &map_a, &shared.full[stage], from, row);
          tma_load(shared.b[stage], &map_b, &shared.full[stage], from, column, once);
          if (++stage == kStages) {
            stage = 0;
            parity ^= 1;
          }
        }
        backward = !backward;
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128;
    const int warp = threadIdx.x / 32 - 4;  // among the consumers'
    const bool by_tma = n % 8 == 0;
    const uint64_t once = evict_first();
    float d[128];
    int stage = 0;
    uint32_t parity = 0;
    for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
      int row, column;
      tile_origin(tile, tiles_m, tiles_n, &row, &column);
      int previous = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier_wait(&shared.full[stage], parity);
        // 16 columns of K are 32 bytes, that is 2 units of a descriptor's address, inside one swizzle atom.
        const uint64_t a = descriptor(&shared.a[stage][consumer * 64 * kTileK]);
        const uint64_t b = descriptor(shared.b[stage]);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < kTileK / 16; ++i) {
          wgmma_m64n256k16(d, a + 2 * i, b + 2 * i, (step | i) != 0);
        }
        wgmma_commit();
        // One group stays in flight; the one before it has finished, so its stage may be refilled.
        wgmma_wait<1>();
        if (step > 0 && thread == 0) {
          mbarrier_arrive(&shared.empty[previous]);
        }
        previous = stage;
        if (++stage == kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
      wgmma_wait<0>();
      if (thread == 0) {
        mbarrier_arrive(&shared.empty[previous]);
      }
      // The compiler does not know that the wait above is what makes d valid: keep its uses behind this point.
#pragma unroll
      for (int i = 0; i < 128; ++i) {
        asm volatile("" : "+f"(d[i])::"memory");
      }

      // Warp w of a warpgroup has rows 16w..16w+15 of its 64.
      if (by_tma) {
        store_by_tma(d, shared.c[warp], &map_c, column, row + warp * kBoxRows, once);
      } else {
        store_by_threads(d, c, column, row + warp * kBoxRows, m, n);
      }
    }
    // Shared memory must outlive the stores that read it. The writes themselves are complete when the kernel is.
    tma_store_wait<0>();
  }
}

// Tensor map of a row-major bf16 matrix, moved in boxes of 64 columns and `box_rows` rows with the 128-byte swizzle.
static CUtensorMap tensor_map(const tvm::ffi::TensorView& matrix, uint32_t box_rows) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(matrix.size(1)), static_cast<cuuint64_t>(matrix.size(0))};
  const cuuint64_t strides[1] = {sizes[0] * sizeof(__nv_bfloat16)};
  const cuuint32_t box[2] = {64, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result = cuTensorMapEncodeTiled(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix.data_ptr(), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TVM_FFI_ICHECK_EQ(static_cast<int>(result), static_cast<int>(CUDA_SUCCESS)) << "cuTensorMapEncodeTiled";
  return map;
}

static void check(cudaError_t error, const char* what) {
  TVM_FFI_ICHECK_EQ(static_cast<int>(error), static_cast<int>(cudaSuccess)) << what << ": " << cudaGetErrorString(error);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = static_cast<int>(a.size(0));
  const int k = static_cast<int>(a.size(1));
  const int n = static_cast<int>(b.size(0));
  if (m == 0 || n == 0) {
    return;
  }
  int sm_count = 0;
  check(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, a.device().device_id), "cudaDeviceGetAttribute");
  check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "cudaFuncSetAttribute");
  const int tiles = ((m + kTileM - 1) / kTileM) * ((n + kTileN - 1) / kTileN);
  const CUtensorMap map_a = tensor_map(a, kTileM);
  const CUtensorMap map_b = tensor_map(b, kTileN);
  const CUtensorMap map_c = n % 8 == 0 ? tensor_map(c, kBoxRows) : CUtensorMap{};
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm<<<min(tiles, sm_count), kThreads, kSharedBytes, stream>>>(map_a, map_b, map_c,
                                                                 static_cast<__nv_bfloat16*>(c.data_ptr()), m, n, k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
