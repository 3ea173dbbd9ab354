// C[M,N] = A[M,K] B[N,K]^T in bfloat16 with float32 accumulation, one 64x64 tile of C per block.
//
// The smallest kernel that uses both Hopper engines as they are meant to be used: TMA brings 64x64 tiles of A and B into
// shared memory (UTMALDG), one warpgroup multiplies them from there (HGMMA), TMA takes the tile of C back (UTMASTG).
// A sample to read and to test tools with, not a fast GEMM. M, N, K need not be multiples of the tile: TMA fills what lies
// outside with zeros and does not store there. K and N must be multiples of 8 (TMA strides are multiples of 16 bytes).
//
// Sources: PTX ISA 9.0, sections "wgmma.mma_async" (fragment layout, matrix descriptor), "cp.async.bulk.tensor", "mbarrier".

#include <cstdint>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

namespace {

constexpr int kTile = 64;                           // rows of A, rows of B and elements of K per tile: 64 bf16 = one 128-byte swizzle row
constexpr int kStages = 2;                          // tiles in flight
constexpr int kTileBytes = kTile * kTile * 2;       // 8 KiB
constexpr int kAtomK = 16;                          // K of one wgmma on 16-bit types
constexpr int kThreads = 128;                       // one warpgroup

struct alignas(1024) Shared {                       // the 128-byte swizzle repeats every 1024 bytes
  __nv_bfloat16 a[kStages][kTile * kTile];
  __nv_bfloat16 b[kStages][kTile * kTile];
  __nv_bfloat16 c[kTile * kTile];
  uint64_t full[kStages];
};

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

__device__ __forceinline__ void load_tile(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                   shared_address(to)),
               "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row)
               : "memory");
}

__device__ __forceinline__ void store_tile(const CUtensorMap* map, const void* from, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(column), "r"(row)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Matrix descriptor of a K-major tile with 128-byte swizzle: eight rows of 128 bytes form one pattern, so the stride from one
// group of eight rows to the next is 1024 bytes. The leading offset has no meaning in this layout. Offsets are in 16 bytes.
__device__ __forceinline__ uint64_t descriptor(const void* tile) {
  constexpr uint64_t kStride = uint64_t(1024 >> 4) << 32;
  constexpr uint64_t kLeading = uint64_t(1) << 16;
  constexpr uint64_t kSwizzle128 = uint64_t(1) << 62;
  return ((shared_address(tile) & 0x3ffff) >> 4) | kLeading | kStride | kSwizzle128;
}

__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
        "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
        "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(accumulate));
}

__global__ void __launch_bounds__(kThreads)
    gemm_tile(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
              const __grid_constant__ CUtensorMap map_c, int k_tiles) {
  __shared__ Shared s;
  const int thread = threadIdx.x;
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;

  auto fetch = [&](int tile) {                      // one thread asks for both operands of a K tile
    const int stage = tile % kStages;
    barrier_expect(&s.full[stage], 2 * kTileBytes);
    load_tile(s.a[stage], &map_a, &s.full[stage], tile * kTile, row);
    load_tile(s.b[stage], &map_b, &s.full[stage], tile * kTile, column);
  };

  if (thread == 0) {
    for (int stage = 0; stage < kStages; ++stage) barrier_init(&s.full[stage], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // TMA must see the barriers before it signals them
    for (int tile = 0; tile < kStages && tile < k_tiles; ++tile) fetch(tile);
  }
  __syncthreads();

  float d[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) d[i] = 0.0f;

  for (int tile = 0; tile < k_tiles; ++tile) {
    const int stage = tile % kStages;
    barrier_wait(&s.full[stage], (tile / kStages) & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < kTile; k += kAtomK) {       // inside a swizzled row, K advances by plain addresses
      multiply(d, descriptor(&s.a[stage][k]), descriptor(&s.b[stage][k]), tile != 0 || k != 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();                                // every warp has read this stage: it may be filled again
    if (thread == 0 && tile + kStages < k_tiles) fetch(tile + kStages);
  }

  // Fragment of D: warp w holds rows 16w..16w+15, a thread two neighbouring columns of rows l/4 and l/4 + 8, every 8 columns.
  const int lane = thread % 32;
  const int top = (thread / 32) * 16 + lane / 4;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int left = j * 8 + (lane % 4) * 2;
    auto pair = [&](int r) { return reinterpret_cast<__nv_bfloat162*>(&s.c[r * kTile + left]); };
    *pair(top) = __floats2bfloat162_rn(d[4 * j], d[4 * j + 1]);
    *pair(top + 8) = __floats2bfloat162_rn(d[4 * j + 2], d[4 * j + 3]);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // TMA reads through another proxy than the stores above
  __syncthreads();
  if (thread == 0) store_tile(&map_c, s.c, column, row);
}

// Describes a row-major bf16 matrix whose tiles are kTile x kTile.
CUtensorMap tensor_map(void* data, int64_t rows, int64_t columns, CUtensorMapSwizzle swizzle) {
  const cuuint64_t size[2] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t stride[1] = {cuuint64_t(columns) * 2};
  const cuuint32_t box[2] = {kTile, kTile};
  const cuuint32_t step[2] = {1, 1};
  CUtensorMap map;
  const CUresult result = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, size, stride, box, step,
                                                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) TVM_FFI_THROW(RuntimeError) << "cuTensorMapEncodeTiled failed with " << int(result);
  return map;
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int64_t m = a.size(0), k = a.size(1), n = b.size(0);
  const CUtensorMap map_a = tensor_map(a.data_ptr(), m, k, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap map_b = tensor_map(b.data_ptr(), n, k, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap map_c = tensor_map(c.data_ptr(), m, n, CU_TENSOR_MAP_SWIZZLE_NONE);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm_tile<<<grid, kThreads, 0, stream>>>(map_a, map_b, map_c, int((k + kTile - 1) / kTile));
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) TVM_FFI_THROW(RuntimeError) << "launch failed: " << cudaGetErrorString(error);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
