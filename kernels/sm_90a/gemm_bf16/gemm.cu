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
//
// gemm.cu is written on the headers of the Hopper pack; kernel.cu is made of it and of what they hold:
//   ptxbench packs amalgamate kernels/sm_90a/gemm_bf16/gemm.cu --out kernels/sm_90a/gemm_bf16/kernel.cu

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>

#include "ptxk/common/address.cuh"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/cache.cuh"
#include "ptxk/sm90/descriptor.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/math.cuh"
#include "ptxk/sm90/matrix.cuh"
#include "ptxk/sm90/mbarrier.cuh"
#include "ptxk/sm90/registers.cuh"
#include "ptxk/sm90/tensor_map.cuh"
#include "ptxk/sm90/tma.cuh"
#include "ptxk/sm90/wgmma.cuh"
#include "ptxk/sm90/wgmma_instances.cuh"

using ptxk::Major;
using ptxk::Swizzle;

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

// Tiles as wgmma sees them: rows of 64 elements of K.
using TileA = ptxk::OperandTile<Swizzle::b128, Major::k, kTileM, kTileK>;
using TileB = ptxk::OperandTile<Swizzle::b128, Major::k, kTileN, kTileK>;

constexpr int kProducerRegisters = 40;
constexpr int kConsumerRegisters = 232;
static_assert(ptxk::registers_fit<kThreads, kProducerRegisters, kConsumerRegisters, kConsumerRegisters>());

// The 128-byte swizzle repeats every 1024 bytes, and descriptors assume that a tile starts on such a boundary.
struct __align__(1024) Shared {
  __nv_bfloat16 a[kStages][kTileM * kTileK];
  __nv_bfloat16 b[kStages][kTileN * kTileK];
  __nv_bfloat16 c[kConsumers * 4][kBoxes][kBoxRows * kBoxColumns];
  uint64_t full[kStages];
  uint64_t empty[kStages];
};
static_assert(TileA::kTileBytes % alignof(Shared) == 0 && TileB::kTileBytes % alignof(Shared) == 0,
              "every stage must start on a swizzle boundary");
constexpr int kSharedBytes = ptxk::shared_bytes<Shared>;
static_assert(kSharedBytes <= ptxk::kMaxSharedBytes, "more shared memory than a block of sm_90 may have");

// A warp's 16x256 of C through its boxes. Accumulator fragment of m64nNk16: in each group of 8 columns a thread has the pair
// 2*(lane%4), 2*(lane%4)+1 of rows lane/4 and lane/4+8, which is what stmatrix takes.
__device__ __forceinline__ void store_by_tma(const float (&d)[128], __nv_bfloat16 (&boxes)[kBoxes][kBoxRows * kBoxColumns],
                                             const CUtensorMap* map, int column, int row, uint64_t policy) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int part = 0; part < kTileN / kBoxColumns; ++part) {
    const __nv_bfloat16* box = boxes[part % kBoxes];
    if (lane == 0) {
      ptxk::tma_wait_read<kBoxes - 1>();  // all but the last store have been read, so this box is free
    }
    __syncwarp();
    const uint32_t to = ptxk::shared_address(box);
#pragma unroll
    for (int pair = 0; pair < kBoxColumns / 16; ++pair) {
      const float* v = d + (part * kBoxColumns + pair * 16) / 2;
      ptxk::stmatrix_x4(ptxk::swizzled_128(to, lane % 16, 2 * pair + lane / 16), ptxk::pack_bf16(v[0], v[1]),
                        ptxk::pack_bf16(v[2], v[3]), ptxk::pack_bf16(v[4], v[5]), ptxk::pack_bf16(v[6], v[7]));
    }
    // Every lane makes its part of the box visible to TMA before one of them starts it.
    ptxk::fence_proxy_async_shared();
    __syncwarp();
    if (lane == 0) {
      ptxk::tma_store_hint_2d(map, box, column + part * kBoxColumns, row, policy);
      ptxk::tma_commit();
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
  Shared& shared = ptxk::aligned_shared<Shared>(raw);

  const int warpgroup = threadIdx.x / 128;
  const int tiles_m = (m + kTileM - 1) / kTileM;
  const int tiles_n = (n + kTileN - 1) / kTileN;
  const int steps = (k + kTileK - 1) / kTileK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptxk::mbarrier_init(&shared.full[s], 1);
      ptxk::mbarrier_init(&shared.empty[s], kConsumers);
    }
    // TMA belongs to the async proxy: it must see initialised barriers.
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();

  if (warpgroup == 0) {
    // The producer needs few registers; what it gives back makes room for the consumers' accumulators.
    ptxk::setmaxnreg_dec<kProducerRegisters>();
    if (threadIdx.x == 0) {
      const uint64_t once = ptxk::policy_evict_first();
      ptxk::Ring<kStages> ring;
      bool backward = false;
      for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
        int row, column;
        tile_origin(tile, tiles_m, tiles_n, &row, &column);
        for (int step = 0; step < steps; ++step) {
          // Every other tile is walked from its end: the CTAs' next tiles have mostly the same rows of A, and the columns
          // of A that were read last are still in L2. B is different each time, and goes first when L2 needs room.
          const int from = (backward ? steps - 1 - step : step) * kTileK;
          ptxk::mbarrier_wait_parity(&shared.empty[ring.stage], ring.parity ^ 1);
          ptxk::mbarrier_arrive_expect_tx(&shared.full[ring.stage], TileA::kTileBytes + TileB::kTileBytes);
          ptxk::tma_load_2d(shared.a[ring.stage], &map_a, &shared.full[ring.stage], from, row);
          ptxk::tma_load_hint_2d(shared.b[ring.stage], &map_b, &shared.full[ring.stage], from, column, once);
          ring.advance();
        }
        backward = !backward;
      }
    }
  } else {
    ptxk::setmaxnreg_inc<kConsumerRegisters>();
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128;
    const int warp = threadIdx.x / 32 - 4;  // among the consumers'
    const bool by_tma = n % 8 == 0;
    const uint64_t once = ptxk::policy_evict_first();
    float d[128];
    // A ring by hand: the compiler keeps this parity in a uniform register, but not that of a ptxk::Ring.
    int stage = 0;
    uint32_t parity = 0;
    for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
      int row, column;
      tile_origin(tile, tiles_m, tiles_n, &row, &column);
      int previous = 0;
      // Four K steps are one turn of the ring.
#pragma unroll kStages
      for (int step = 0; step < steps; ++step) {
        ptxk::mbarrier_wait_parity(&shared.full[stage], parity);
        const __nv_bfloat16* rows = &shared.a[stage][consumer * 64 * kTileK];
        ptxk::wgmma_fence();
#pragma unroll
        for (int i = 0; i < kTileK / 16; ++i) {
          const uint64_t a = ptxk::make_descriptor<Swizzle::b128, Major::k, 64, kTileK>(rows, i);
          const uint64_t b = ptxk::make_descriptor<Swizzle::b128, Major::k, kTileN, kTileK>(shared.b[stage], i);
          ptxk::wgmma_m64n256k16_bf16(d, a, b, (step | i) != 0);
        }
        ptxk::wgmma_commit();
        // One group stays in flight; the one before it has finished, so its stage may be refilled.
        ptxk::wgmma_wait<1>();
        if (step > 0 && thread == 0) {
          ptxk::mbarrier_arrive(&shared.empty[previous]);
        }
        previous = stage;
        if (++stage == kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
      ptxk::wgmma_wait<0>();
      if (thread == 0) {
        ptxk::mbarrier_arrive(&shared.empty[previous]);
      }
      ptxk::wgmma_settle(d);

      // Warp w of a warpgroup has rows 16w..16w+15 of its 64.
      if (by_tma) {
        store_by_tma(d, shared.c[warp], &map_c, column, row + warp * kBoxRows, once);
      } else {
        store_by_threads(d, c, column, row + warp * kBoxRows, m, n);
      }
    }
    // Shared memory must outlive the stores that read it. The writes themselves are complete when the kernel is.
    ptxk::tma_wait_read<0>();
  }
}

// Tensor map of a row-major bf16 matrix, moved in boxes of 64 columns and kRows rows with the 128-byte swizzle.
template <uint32_t kRows>
static CUtensorMap tensor_map(const tvm::ffi::TensorView& matrix) {
  CUtensorMap map;
  const uint64_t rows = matrix.size(0), columns = matrix.size(1);
  const CUresult result = ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, kRows>(
      &map, matrix.data_ptr(), {columns, rows}, {columns * sizeof(__nv_bfloat16)});
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
  check(ptxk::allow_shared(gemm, kSharedBytes), "cudaFuncSetAttribute");
  const int tiles = ((m + kTileM - 1) / kTileM) * ((n + kTileN - 1) / kTileN);
  const CUtensorMap map_a = tensor_map<kTileM>(a);
  const CUtensorMap map_b = tensor_map<kTileN>(b);
  const CUtensorMap map_c = n % 8 == 0 ? tensor_map<kBoxRows>(c) : CUtensorMap{};
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm<<<min(tiles, sm_count), kThreads, kSharedBytes, stream>>>(map_a, map_b, map_c,
                                                                 static_cast<__nv_bfloat16*>(c.data_ptr()), m, n, k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
