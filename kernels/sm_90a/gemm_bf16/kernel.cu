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

// ---- ptxk/common/address.cuh
// Addresses in shared memory and places in a block.

namespace ptxk {

// A pointer into this block's shared memory as the 32-bit address that PTX's shared instructions and descriptors take.
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Dynamic shared memory as a structure on the boundary that it is declared with (alignas); ask for shared_bytes<T> of it.
template <typename T>
__device__ __forceinline__ T& aligned_shared(void* raw) {
  constexpr uintptr_t kMask = alignof(T) - 1;
  return *reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(raw) + kMask) & ~kMask);
}

template <typename T>
constexpr int shared_bytes = sizeof(T) + alignof(T);

}  // namespace ptxk

// ---- end of ptxk/common/address.cuh
// ---- ptxk/common/ring.cuh
// The place in a ring of stages: which stage comes next and the parity of the phase in which it is used.

namespace ptxk {

// Both sides start at stage 0, parity 0. A consumer waits on full[stage] with `parity`, a producer on empty[stage] with
// `parity ^ 1`: on a fresh barrier parity 1 counts as completed, so the first round does not wait.
template <int kStages>
struct Ring {
  static_assert(kStages >= 1, "a ring has at least one stage");
  int stage = 0;
  uint32_t parity = 0;

  __host__ __device__ constexpr void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace ptxk

// ---- end of ptxk/common/ring.cuh
// ---- ptxk/sm90/cache.cuh
// What L2 shall keep (PTX ISA, "createpolicy"). A policy is made once per thread and given to loads and stores that take one.

namespace ptxk {

// For what is read or written once: it leaves first.
__device__ __forceinline__ uint64_t policy_evict_first() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// For what many blocks read again.
__device__ __forceinline__ uint64_t policy_evict_last() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// 16 bytes (aligned) that no kernel writes meanwhile, past L1.
__device__ __forceinline__ uint4 load_global_hint(const void* from, uint64_t policy) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from)), "l"(policy));
  return v;
}

}  // namespace ptxk

// ---- end of ptxk/sm90/cache.cuh
// ---- ptxk/sm90/descriptor.cuh
// Matrix descriptors of wgmma operands in shared memory (PTX ISA, "Matrix Descriptor Format", "Strides", "Swizzling Modes").
//
// An operand is kExtent (M or N) x kDepth (K), laid down by TMA box after box, each `span` bytes wide and swizzled:
//   Major::k   boxes of span bytes of K and kExtent rows.   SBO = 8 * span. LBO: kExtent * 16 without swizzle, else not used.
//   Major::mn  boxes of span bytes of M or N and kDepth rows. LBO = kDepth * span and SBO = 8 * span; without swizzle the other
//              way round: LBO = 128 (the next 8 of K), SBO = kDepth * 16 (the next 8 of M or N). 16-bit inputs only.

namespace ptxk {

// The values are the descriptor's bits 62-63. Chunks of 16 bytes: bits 4-6 of the address ^= bits 7-9 (64B: 4-5, 7-8; 32B: 4, 7).
enum class Swizzle : uint32_t { none = 0, b128 = 1, b64 = 2, b32 = 3 };

// Along which dimension elements lie side by side.
enum class Major : uint32_t { k = 0, mn = 1 };

// Width of a box in bytes.
__host__ __device__ constexpr uint32_t swizzle_span(Swizzle swizzle) {
  return swizzle == Swizzle::b128 ? 128 : swizzle == Swizzle::b64 ? 64 : swizzle == Swizzle::b32 ? 32 : 16;
}

// Bytes after which the pattern repeats: a tile starts on a multiple of this (TMA itself wants 128).
__host__ __device__ constexpr uint32_t swizzle_alignment(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 128 : 8 * swizzle_span(swizzle);
}

// All in bytes; the fields hold units of 16. The base offset is 0: the tile starts where the pattern does.
__host__ __device__ constexpr uint64_t encode_descriptor(uint32_t address, uint32_t leading, uint32_t stride, Swizzle swizzle) {
  return static_cast<uint64_t>((address & 0x3FFFF) >> 4) | static_cast<uint64_t>((leading & 0x3FFFF) >> 4) << 16 |
         static_cast<uint64_t>((stride & 0x3FFFF) >> 4) << 32 | static_cast<uint64_t>(swizzle) << 62;
}

// What a tile's layout makes of its sizes. kBytes: of an element.
template <Swizzle kSwizzle, Major kMajor, int kExtent, int kDepth, int kBytes = 2>
struct OperandTile {
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4, "elements of 8, 16 or 32 bits");
  static_assert(kMajor == Major::k || kBytes == 2, "only 16-bit inputs may lie along M or N");
  static_assert(kExtent > 0 && kExtent % 8 == 0, "M and N come in groups of 8");
  static_assert(kDepth > 0 && kDepth * kBytes % 32 == 0, "one wgmma takes 32 bytes of K: 16 elements of 16 bits");

  static constexpr uint32_t kSpan = swizzle_span(kSwizzle);
  static constexpr uint32_t kBox = kSpan / kBytes;  // elements across a box
  static constexpr uint32_t kAlong = kMajor == Major::k ? kDepth : kExtent;
  static constexpr uint32_t kRows = kMajor == Major::k ? kExtent : kDepth;
  static_assert(kAlong % kBox == 0, "a tile is made of whole boxes");
  static constexpr uint32_t kBoxBytes = kSpan * kRows;
  static constexpr uint32_t kTileBytes = kBoxBytes * (kAlong / kBox);
  static constexpr bool kPlain = kSwizzle == Swizzle::none;
  static constexpr uint32_t kLeading = kPlain && kMajor == Major::mn ? 128 : kPlain || kMajor == Major::mn ? kBoxBytes : 16;
  static constexpr uint32_t kStride = kPlain && kMajor == Major::mn ? kBoxBytes : 8 * kSpan;
  static_assert(kLeading < 1 << 18 && kStride < 1 << 18, "offsets have 14 bits of 16 bytes");

  // Bytes from the tile's start to the step-th 32 bytes of K (16-bit inputs: 16 of K).
  __host__ __device__ static constexpr uint32_t k_offset(uint32_t step) {
    if (kMajor == Major::mn) {
      return step * 16 * kSpan;
    }
    return kPlain ? step * 2 * kBoxBytes : step * 32 / kSpan * kBoxBytes + step * 32 % kSpan;
  }

  // Bytes to the 64-row slice of a warpgroup.
  __host__ __device__ static constexpr uint32_t warpgroup_offset(uint32_t warpgroup) {
    return kMajor == Major::k ? warpgroup * 64 * kSpan : warpgroup * 64 / kBox * kBoxBytes;
  }
};

// The descriptor of the step-th 32 bytes of K, and of the 64 rows of one warpgroup. The tile starts on swizzle_alignment.
template <Swizzle kSwizzle, Major kMajor, int kExtent, int kDepth, int kBytes = 2>
__device__ __forceinline__ uint64_t make_descriptor(const void* tile, uint32_t step = 0, uint32_t warpgroup = 0) {
  using Tile = OperandTile<kSwizzle, kMajor, kExtent, kDepth, kBytes>;
  const uint32_t offset = Tile::k_offset(step) + Tile::warpgroup_offset(warpgroup);
  // Added to a descriptor that all steps share. Shared addresses end below the field's 256 KiB: no carry.
  return encode_descriptor(shared_address(tile), Tile::kLeading, Tile::kStride, kSwizzle) + (offset >> 4);
}

}  // namespace ptxk

// ---- end of ptxk/sm90/descriptor.cuh
// ---- ptxk/sm90/fence.cuh
// Fences between proxies and across a cluster (PTX ISA, "membar, fence", "Proxies").

namespace ptxk {

// By every thread that wrote shared memory with ordinary stores, before TMA or wgmma reads it (then a barrier, then the issue).
__device__ __forceinline__ void fence_proxy_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// The same for every state space, at the price of a GPU-wide memory barrier.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

__device__ __forceinline__ void fence_cluster() { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }

// Before the use of a tensor map that was written on the device (128 bytes, in global memory).
__device__ __forceinline__ void fence_tensor_map_acquire(const void* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

}  // namespace ptxk

// ---- end of ptxk/sm90/fence.cuh
// ---- ptxk/sm90/launch.cuh
// Launches (CUDA runtime API, "Execution Control"). Every function returns the runtime's error: check it.

namespace ptxk {

// The most of one block on sm_90.
constexpr int kMaxSharedBytes = 227 * 1024;

// Above 48 KiB of dynamic shared memory a kernel must opt in, once, before its launch.
template <typename Kernel>
cudaError_t allow_shared(Kernel kernel, int bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch_with(cudaLaunchAttribute attribute, void (*kernel)(Parameters...), dim3 grid, dim3 block, int shared,
                        cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config{grid, block, static_cast<size_t>(shared), stream, &attribute, 1};
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

// Blocks in clusters of `cluster` along x; the grid is a multiple of it. Above 8 also set
// cudaFuncAttributeNonPortableClusterSizeAllowed.
template <typename Kernel, typename... Arguments>
cudaError_t launch_cluster(Kernel* kernel, dim3 grid, dim3 block, unsigned cluster, int shared, cudaStream_t stream,
                           Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  return launch_with(attribute, kernel, grid, block, shared, stream, arguments...);
}

// May start before the kernel ahead of it in the stream has ended; see pdl.cuh.
template <typename Kernel, typename... Arguments>
cudaError_t launch_dependent(Kernel* kernel, dim3 grid, dim3 block, int shared, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return launch_with(attribute, kernel, grid, block, shared, stream, arguments...);
}

}  // namespace ptxk

// ---- end of ptxk/sm90/launch.cuh
// ---- ptxk/sm90/math.cuh
// Powers of two and the narrowing of accumulators (PTX ISA, "ex2", "cvt").

namespace ptxk {

// 2^x on the special function unit; subnormal results are zero. exp(x) is exp2_fast(x * 1.4426950408889634f).
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two of them at once on packed f16: less precise.
__device__ __forceinline__ uint32_t exp2_f16x2(uint32_t x) {
  uint32_t y;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

// Two floats rounded to nearest, `low` in the lower half.
__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ uint32_t pack_f16(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Beyond the largest finite value (448) they become it.
__device__ __forceinline__ uint16_t pack_e4m3(float low, float high) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}

}  // namespace ptxk

// ---- end of ptxk/sm90/math.cuh
// ---- ptxk/sm90/matrix.cuh
// 8x8 matrices of 16-bit elements between shared memory and a warp's registers (PTX ISA, "ldmatrix", "stmatrix"). Lane l gives the
// address (16-byte aligned) of row l % 8 of matrix l / 8 and holds, of each matrix, elements 2 * (l % 4) and the next of row l / 4.
// `trans`: the matrix lies transposed in shared memory.

namespace ptxk {

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void stmatrix_x4(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

__device__ __forceinline__ void stmatrix_x4_trans(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d) : "memory");
}

__device__ __forceinline__ void stmatrix_x2(uint32_t to, uint32_t a, uint32_t b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
}

// Address of 16-byte chunk `chunk` of row `row` of a box in the 128-byte swizzle, which starts on 1024 bytes.
__host__ __device__ constexpr uint32_t swizzled_128(uint32_t box, uint32_t row, uint32_t chunk) {
  return box + row * 128 + ((chunk ^ (row % 8)) << 4);
}

}  // namespace ptxk

// ---- end of ptxk/sm90/matrix.cuh
// ---- ptxk/sm90/mbarrier.cuh
// mbarrier (PTX ISA, "mbarrier"). A barrier is an 8-byte aligned uint64_t in shared memory; a phase completes when the pending
// arrivals and the transaction bytes are both zero.

namespace ptxk {

__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// By the thread that initialised, before the barrier that lets others (threads, TMA, other CTAs) use the barriers.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_invalidate(uint64_t* barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// One arrival, and `bytes` more to come before the phase may complete.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Bytes to come, without an arrival.
__device__ __forceinline__ void mbarrier_expect_tx(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Whether the phase of this parity has completed; may sleep for a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait_parity(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void mbarrier_wait_parity(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(parity) : "memory");
}

// The same for what other CTAs of the cluster wrote by ordinary stores before their mbarrier_arrive_remote_release.
__device__ __forceinline__ void mbarrier_wait_parity_cluster(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(parity) : "memory");
}

// Arrive on the barrier at the same offset in CTA `cta` of the cluster. Of CTA scope: gives back a stage that TMA refills.
__device__ __forceinline__ void mbarrier_arrive_remote(uint64_t* barrier, uint32_t cta) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(cta) : "memory");
}

// The same, and what this thread wrote before is visible to who waits with mbarrier_wait_parity_cluster.
__device__ __forceinline__ void mbarrier_arrive_remote_release(uint64_t* barrier, uint32_t cta) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}\n" ::"r"(shared_address(barrier)),
      "r"(cta) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_expect_tx_remote(uint64_t* barrier, uint32_t cta, uint32_t bytes) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [remote], %2;\n}\n" ::"r"(shared_address(barrier)),
      "r"(cta), "r"(bytes) : "memory");
}

}  // namespace ptxk

// ---- end of ptxk/sm90/mbarrier.cuh
// ---- ptxk/sm90/registers.cuh
// Registers moved between warpgroups (PTX ISA, "setmaxnreg").
//
// ptxas drops setmaxnreg (info C7508) unless it knows the registers at entry: declare the kernel
// __launch_bounds__(threads, 1): at most launch_registers(threads) for each. Example, one producer and two consumers:
//   static_assert(registers_fit<384, 40, 232, 232>());   // 168 each at entry
//   if (warpgroup == 0) { setmaxnreg_dec<40>(); ... } else { setmaxnreg_inc<232>(); ... }

namespace ptxk {

// Registers of a thread at entry when one block of `threads` has the SM for itself.
__host__ __device__ constexpr int launch_registers(int threads) {
  const int most = 65536 / threads / 8 * 8;
  return most < 255 ? most : 255;
}

// Whether warpgroups of these registers a thread fit into what a block of kThreads has at entry.
template <int kThreads, int... kRegisters>
__host__ __device__ constexpr bool registers_fit() {
  static_assert(kThreads == 128 * static_cast<int>(sizeof...(kRegisters)), "one number for each warpgroup");
  return (kRegisters + ...) <= launch_registers(kThreads) * static_cast<int>(sizeof...(kRegisters));
}

// By all threads of a warpgroup. New registers hold nothing defined; waits until others have given theirs back.
template <int N>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers in steps of 8");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers in steps of 8");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

}  // namespace ptxk

// ---- end of ptxk/sm90/registers.cuh
// ---- ptxk/sm90/tensor_map.cuh
// Tensor maps, made on the host (CUDA driver API, cuTensorMapEncodeTiled).

#include <type_traits>

namespace ptxk {

__host__ constexpr CUtensorMapSwizzle tensor_map_swizzle(Swizzle swizzle) {
  return swizzle == Swizzle::b128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : swizzle == Swizzle::b64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : swizzle == Swizzle::b32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
}

__host__ constexpr uint32_t element_bytes(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 4;
  }
}

// A map of boxes of kBox elements, innermost first; fp8 is UINT8, tf32 FLOAT32. `sizes` counts elements, innermost first; `strides`
// has the bytes between neighbours of dimensions 1 and up (sizeof...(kBox) - 1 of them, multiples of 16); `base` lies on 16 bytes.
// Example, row-major bf16 [rows, columns], both uint64_t (int does not compile), in boxes of 64 columns and 128 rows:
//   make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 128>(&map, base, {columns, rows}, {columns * 2})
template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
CUresult make_tensor_map(CUtensorMap* map, const void* base, const uint64_t (&sizes)[sizeof...(kBox)],
                         const uint64_t (&strides)[sizeof...(kBox) > 1 ? sizeof...(kBox) - 1 : 1]) {
  constexpr int kRank = sizeof...(kBox);
  constexpr uint32_t kBoxes[] = {kBox...};
  constexpr uint32_t kInner = kBoxes[0] * element_bytes(kType);
  static_assert(kRank >= 1 && kRank <= 5, "1 to 5 dimensions");
  static_assert(((kBox >= 1 && kBox <= 256) && ...), "a box has 1 to 256 elements along each dimension");
  static_assert(kInner % 16 == 0, "the inner row of a box is a multiple of 16 bytes");
  static_assert(kSwizzle == Swizzle::none || kInner <= swizzle_span(kSwizzle), "with a swizzle, no wider than its span");
  cuuint64_t extents[kRank];
  cuuint64_t pitches[kRank];
  cuuint32_t steps[kRank];
  for (int i = 0; i < kRank; ++i) {
    extents[i] = sizes[i];
    pitches[i] = i + 1 < kRank ? strides[i] : 0;
    steps[i] = 1;
  }
  const cuuint32_t box[] = {kBox...};
  return cuTensorMapEncodeTiled(map, kType, kRank, const_cast<void*>(base), extents, pitches, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, tensor_map_swizzle(kSwizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace ptxk

// ---- end of ptxk/sm90/tensor_map.cuh
// ---- ptxk/sm90/tma.cuh
// TMA: tensors and runs of bytes between global and shared memory (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk"). One thread
// issues. Coordinates count elements, innermost first. Other ranks, 1 to 5, differ in `.2d` and in the number of coordinates.

namespace ptxk {

__device__ __forceinline__ void tma_prefetch_descriptor(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// A box from the map's tensor; its bytes complete on `barrier`.
__device__ __forceinline__ void tma_load_2d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1) : "memory");
}

// The same with a policy of cache.cuh.
__device__ __forceinline__ void tma_load_hint_2d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                 uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "l"(policy) : "memory");
}

// To the same offset in every CTA whose bit (cluster_rank) is set in `mask`; each one's own barrier gets the bytes.
__device__ __forceinline__ void tma_load_2d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                      uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "h"(mask) : "memory");
}

__device__ __forceinline__ void tma_load_hint_2d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                           uint16_t mask, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "h"(mask), "l"(policy) : "memory");
}

// Before it: every writer's fence_proxy_async_shared, then a barrier. After it: tma_commit.
__device__ __forceinline__ void tma_store_2d(const CUtensorMap* map, const void* from, int c0, int c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(c0), "r"(c1) : "memory");
}

__device__ __forceinline__ void tma_store_hint_2d(const CUtensorMap* map, const void* from, int c0, int c1, uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3}], [%1], %4;" ::"l"(map),
               "r"(shared_address(from)), "r"(c0), "r"(c1), "l"(policy) : "memory");
}

// Adds the box to the tensor, element by element in the map's type.
__device__ __forceinline__ void tma_reduce_add_2d(const CUtensorMap* map, const void* from, int c0, int c1) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(c0), "r"(c1) : "memory");
}

// Into L2 only.
__device__ __forceinline__ void tma_prefetch_2d(const CUtensorMap* map, int c0, int c1) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(c0), "r"(c1) : "memory");
}

// Ends a bulk group of this thread's stores and reductions.
__device__ __forceinline__ void tma_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most kPending of this thread's groups still read their shared memory: it may be written again.
template <int kPending>
__device__ __forceinline__ void tma_wait_read() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Until they are complete: this thread sees what they wrote.
template <int kPending>
__device__ __forceinline__ void tma_wait() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

// ---- runs of bytes: no tensor map; addresses and sizes are multiples of 16 ----

__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void bulk_store(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void bulk_reduce_add_f32(float* to, const float* from, uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void bulk_prefetch(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
}

}  // namespace ptxk

// ---- end of ptxk/sm90/tma.cuh
// ---- ptxk/sm90/wgmma.cuh
// wgmma: D = A * B (+ D) by a warpgroup (PTX ISA, "wgmma").
// All 128 threads take part. D has 64 rows and N columns; K is 32 bytes: 16 of bf16 or f16, 32 of e4m3, e5m2 or s8, 8 of tf32.
// `accumulate` 0 ignores what D held. A comes from a descriptor, or from registers with the fragment of a_row, a_column.

namespace ptxk {

// Before the first wgmma and whenever registers of D or A were touched since the last one.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most kPending groups of this warpgroup are in flight.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  static_assert(kPending >= 0 && kPending <= 7, "0 to 7 groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the uses of D behind the wait that makes it valid: the compiler does not know of it.
template <typename T, int kRegisters>
__device__ __forceinline__ void wgmma_settle(T (&d)[kRegisters]) {
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      asm volatile("" : "+f"(d[i])::"memory");
    } else {
      asm volatile("" : "+r"(d[i])::"memory");
    }
  }
}

// Where element i of a thread's D (f32 or s32) lies; `thread` counts in the warpgroup (0..127). Packed f16: word i holds elements
// 2i and 2i+1.
__host__ __device__ constexpr int d_row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
__host__ __device__ constexpr int d_column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

// Where the first element of word i (0..3) of a thread's A lies; kBytes of an element. So for 16-bit A and step s along K, word i
// is the rounded pair d[8s + 2i], d[8s + 2i + 1] of a D whose columns are this A's K: pack_bf16 of them.
__host__ __device__ constexpr int a_row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8; }
template <int kBytes = 2>
__host__ __device__ constexpr int a_column(int thread, int i) {
  return (thread % 4 + i / 2 * 4) * (4 / kBytes);
}

}  // namespace ptxk

// ---- end of ptxk/sm90/wgmma.cuh
// ---- ptxk/sm90/wgmma_instances.cuh
// Written by generate.py: change that, not this.
// wgmma written out, the patterns to copy. For another N: d has N / 2 registers, and the numbers of the operands after them begin
// there. For f16 inputs write k16.f32.f16.f16; for fp8 k32.f32.e4m3.e4m3 (or e5m2) and for tf32 k8.f32.tf32.tf32, both without the
// last operands, the majors; for s8 k32.s32.s8.s8 with int32_t sums ("+r") and nothing after p.

namespace ptxk {

// %t0 to %t9; the operands d[i] to d[i + 7].
#define PTXK_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define PTXK_EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

template <Major kA = Major::k, Major kB = Major::k>
__device__ __forceinline__ void wgmma_m64n64k16_bf16(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      PTXK_TEN() PTXK_TEN(1) PTXK_TEN(2) "%30, %31}, "
      "%32, %33, p, 1, 1, %35, %36;\n}\n"
      : PTXK_EIGHT(0), PTXK_EIGHT(8), PTXK_EIGHT(16), PTXK_EIGHT(24)
      : "l"(a), "l"(b), "r"(accumulate), "n"(static_cast<int>(kA)), "n"(static_cast<int>(kB))
      : "memory");
}

template <Major kB = Major::k>
__device__ __forceinline__ void wgmma_m64n64k16_bf16_rs(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      PTXK_TEN() PTXK_TEN(1) PTXK_TEN(2) "%30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}\n"
      : PTXK_EIGHT(0), PTXK_EIGHT(8), PTXK_EIGHT(16), PTXK_EIGHT(24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(static_cast<int>(kB))
      : "memory");
}

template <Major kA = Major::k, Major kB = Major::k>
__device__ __forceinline__ void wgmma_m64n256k16_bf16(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      PTXK_TEN() PTXK_TEN(1) PTXK_TEN(2) PTXK_TEN(3) PTXK_TEN(4) PTXK_TEN(5) PTXK_TEN(6) PTXK_TEN(7) PTXK_TEN(8) PTXK_TEN(9)
      PTXK_TEN(10) PTXK_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, %131, %132;\n}\n"
      : PTXK_EIGHT(0), PTXK_EIGHT(8), PTXK_EIGHT(16), PTXK_EIGHT(24), PTXK_EIGHT(32), PTXK_EIGHT(40), PTXK_EIGHT(48),
        PTXK_EIGHT(56), PTXK_EIGHT(64), PTXK_EIGHT(72), PTXK_EIGHT(80), PTXK_EIGHT(88), PTXK_EIGHT(96), PTXK_EIGHT(104),
        PTXK_EIGHT(112), PTXK_EIGHT(120)
      : "l"(a), "l"(b), "r"(accumulate), "n"(static_cast<int>(kA)), "n"(static_cast<int>(kB))
      : "memory");
}

}  // namespace ptxk

// ---- end of ptxk/sm90/wgmma_instances.cuh

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
