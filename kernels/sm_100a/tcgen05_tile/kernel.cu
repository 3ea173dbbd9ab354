// C[M,N] = A[M,K] B[N,K]^T in bfloat16 with float32 accumulation, one 128x64 tile of C per block.
//
// Compiled and disassembled for sm_100a; never executed, since no such GPU was within reach. Right as far as the PTX ISA tells.
//
// The life of one fifth-generation tensor-core tile: a warp allocates tensor memory, TMA brings tiles of A and B into shared
// memory (UTMALDG), one thread issues the multiplications (UTCHMMA) and commits them to an mbarrier (UTCBAR), four warps read
// the accumulator back (LDTM), the memory is returned. A sample to read and to test tools with, not a fast GEMM. M must be a
// multiple of 128, N and K of 64.
//
// Sources: PTX ISA 9.0, sections "tcgen05" (tensor memory, shared memory descriptor, instruction descriptor),
// "cp.async.bulk.tensor", "mbarrier".

#include <cstdint>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

namespace {

constexpr int kTileM = 128;                         // one accumulator row per lane of tensor memory
constexpr int kTileN = 64;                          // one 32-bit column of tensor memory per column of C
constexpr int kTileK = 64;                          // 64 bf16 = one 128-byte swizzle row
constexpr int kAtomK = 16;                          // K of one tcgen05.mma on 16-bit types
constexpr int kThreads = 128;                       // warp w may read lanes 32w..32w+31 of tensor memory
constexpr uint32_t kColumns = kTileN;               // allocation: a power of two from 32 to 512

struct alignas(1024) Shared {                       // the 128-byte swizzle repeats every 1024 bytes
  __nv_bfloat16 a[kTileM * kTileK];
  __nv_bfloat16 b[kTileN * kTileK];
  uint64_t loaded;
  uint64_t multiplied;
  uint32_t tensor_memory;
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

// Shared memory descriptor of a K-major tile with 128-byte swizzle: 1024 bytes from one group of eight rows to the next, the
// leading offset without meaning, bits 46..48 the constant 1, bits 61..63 the swizzle mode (2 = 128 bytes).
__device__ __forceinline__ uint64_t descriptor(const void* tile) {
  constexpr uint64_t kLeading = uint64_t(1) << 16;
  constexpr uint64_t kStride = uint64_t(1024 >> 4) << 32;
  constexpr uint64_t kConstant = uint64_t(1) << 46;
  constexpr uint64_t kSwizzle128 = uint64_t(2) << 61;
  return ((shared_address(tile) & 0x3ffff) >> 4) | kLeading | kStride | kConstant | kSwizzle128;
}

// Instruction descriptor of kind::f16: D in float32 (bit 4), A and B in bf16 (bits 7 and 10), both K-major, N/8 at bit 17, M/16 at 24.
constexpr uint32_t kInstruction = (1u << 4) | (1u << 7) | (1u << 10) | (uint32_t(kTileN / 8) << 17) | (uint32_t(kTileM / 16) << 24);

__device__ __forceinline__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t accumulate) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(d),
      "l"(a), "l"(b), "r"(kInstruction), "r"(accumulate)
      : "memory");
}

__global__ void __launch_bounds__(kThreads)
    gemm_tile(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* c, int n,
              int k_tiles) {
  __shared__ Shared s;
  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int row = blockIdx.y * kTileM;
  const int column = blockIdx.x * kTileN;

  if (warp == 0) {                                  // allocation is a warp's affair; its result lands in shared memory
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&s.tensor_memory)),
                 "r"(kColumns)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (thread == 0) {
    barrier_init(&s.loaded, 1);
    barrier_init(&s.multiplied, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t accumulator = s.tensor_memory;

  if (thread == 0) {
    for (int tile = 0; tile < k_tiles; ++tile) {
      const uint32_t parity = tile & 1;
      barrier_expect(&s.loaded, (kTileM + kTileN) * kTileK * 2);
      load_tile(s.a, &map_a, &s.loaded, tile * kTileK, row);
      load_tile(s.b, &map_b, &s.loaded, tile * kTileK, column);
      barrier_wait(&s.loaded, parity);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#pragma unroll
      for (int k = 0; k < kTileK; k += kAtomK) {    // inside a swizzled row, K advances by plain addresses
        multiply(accumulator, descriptor(&s.a[k]), descriptor(&s.b[k]), tile != 0 || k != 0);
      }
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                       shared_address(&s.multiplied))
                   : "memory");
      barrier_wait(&s.multiplied, parity);          // the tiles have been read: they may be overwritten
    }
  }
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

  // Lane l of warp w reads accumulator row 32w + l, 16 columns at a time. A tensor memory address has the lane in its upper half.
  __nv_bfloat16* out = c + static_cast<int64_t>(row + thread) * n + column;
#pragma unroll
  for (int first = 0; first < kTileN; first += 16) {
    uint32_t r[16];
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x16.b32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]), "=r"(r[8]), "=r"(r[9]),
          "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15])
        : "r"(accumulator + (static_cast<uint32_t>(warp * 32) << 16) + first));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 16; i += 2) {
      *reinterpret_cast<__nv_bfloat162*>(out + first + i) = __floats2bfloat162_rn(__uint_as_float(r[i]), __uint_as_float(r[i + 1]));
    }
  }

  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();                                  // nobody reads tensor memory any more
  if (warp == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(accumulator), "r"(kColumns) : "memory");
  }
}

// Describes a row-major bf16 matrix whose tiles are tile_rows x kTileK.
CUtensorMap tensor_map(void* data, int64_t rows, int64_t columns, uint32_t tile_rows) {
  const cuuint64_t size[2] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t stride[1] = {cuuint64_t(columns) * 2};
  const cuuint32_t box[2] = {kTileK, tile_rows};
  const cuuint32_t step[2] = {1, 1};
  CUtensorMap map;
  const CUresult result = cuTensorMapEncodeTiled(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) TVM_FFI_THROW(RuntimeError) << "cuTensorMapEncodeTiled failed with " << int(result);
  return map;
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int64_t m = a.size(0), k = a.size(1), n = b.size(0);
  if (m % kTileM != 0 || n % kTileN != 0 || k % kTileK != 0) {
    TVM_FFI_THROW(ValueError) << "M must be a multiple of 128, N and K of 64";
  }
  const CUtensorMap map_a = tensor_map(a.data_ptr(), m, k, kTileM);
  const CUtensorMap map_b = tensor_map(b.data_ptr(), n, k, kTileN);
  const dim3 grid(n / kTileN, m / kTileM);
  auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm_tile<<<grid, kThreads, 0, stream>>>(map_a, map_b, static_cast<__nv_bfloat16*>(c.data_ptr()), int(n), int(k / kTileK));
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) TVM_FFI_THROW(RuntimeError) << "launch failed: " << cudaGetErrorString(error);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
