#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>
// What the recordings in this folder are of, one fault an entry; their line numbers are this file's.
namespace faults {

__global__ void oob_read(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i < n ? i : 0] = x[i * 2];
}
template <int Step>
__global__ void oob_write(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    y[i + Step] = v;
  }
}
__global__ void misaligned(const float* x, float* y, int n) {
  int i = threadIdx.x;
  *reinterpret_cast<float4*>(y + i + 1) = make_float4(x[i], 0.f, 0.f, 0.f);
}
__global__ void shared_oob(const float* x, float* y, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x + n] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
__global__ void local_oob(const float* x, float* y, int n) {
  volatile float stack[16];
  for (int i = 0; i < 16; ++i) stack[i] = x[i];
  stack[n * 4096] = 1.f;
  y[threadIdx.x] = stack[threadIdx.x % 16];
}
__global__ void null_write(float* y) { *reinterpret_cast<volatile float*>(uintptr_t(threadIdx.x)*4) = 1.f; y[0] = 1.f; }
__global__ void trap(float* y) {
  if (threadIdx.x == 3) asm volatile("trap;");
  y[threadIdx.x] = 1.f;
}
__global__ void spin(volatile float* y) {
  __shared__ int lock;
  lock = 1;
  __syncthreads();
  while (*reinterpret_cast<volatile int*>(&lock)) {
    if (y[0] == 12345.f) break;
  }
  y[1] = 1.f;
}
__global__ void bad_barrier(float* y) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(at));
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(at) : "memory");
  y[threadIdx.x] = 1.f;
}
__global__ void bulk_oob(const float* x, float* y) {
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) uint64_t barrier;
  uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(at));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(to), "l"(x + (1 << 20)), "r"(at) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(at) : "memory");
  y[threadIdx.x] = tile[threadIdx.x];
}
__global__ void asserts(float* y) { if (threadIdx.x == 5) __trap(); y[threadIdx.x] = 2.f; }
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.f * x[i];
}
__global__ void race(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1.f;
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
}  // namespace faults

using tvm::ffi::TensorView;
#define STREAM (cudaStream_t)TVMFFIEnvGetStream(x.device().device_type, x.device().device_id)
#define X ((const float*)x.data_ptr())
#define Y ((float*)y.data_ptr())
#define ENTRY(NAME, ...)                                                        \
  void NAME##_entry(TensorView x, TensorView y) {                                 \
    int n = (int)x.size(0);                                                       \
    cudaStream_t s = STREAM;                                                      \
    __VA_ARGS__;                                                                     \
  }                                                                               \
  TVM_FFI_DLL_EXPORT_TYPED_FUNC(NAME, NAME##_entry);

ENTRY(oob_read, (faults::oob_read<<<(n + 256) / 256, 256, 0, s>>>(X, Y, n)))
ENTRY(oob_write, (faults::oob_write<1><<<(n + 255) / 256, 256, 0, s>>>(X, Y, n)))
ENTRY(oob_far, (faults::oob_write<(1 << 28)><<<(n + 255) / 256, 256, 0, s>>>(X, Y, n)))
ENTRY(misaligned, (faults::misaligned<<<1, 64, 0, s>>>(X, Y, n)))
ENTRY(shared_oob, (faults::shared_oob<<<1, 64, 256, s>>>(X, Y, n)))
ENTRY(local_oob, (faults::local_oob<<<1, 64, 0, s>>>(X, Y, n)))
ENTRY(null_write, (faults::null_write<<<1, 64, 0, s>>>(Y)))
ENTRY(trap, (faults::trap<<<2, 64, 0, s>>>(Y)))
ENTRY(spin, (faults::spin<<<4, 64, 0, s>>>(Y)))
ENTRY(bad_barrier, (faults::bad_barrier<<<4, 64, 0, s>>>(Y)))
ENTRY(bulk_oob, (faults::bulk_oob<<<4, 64, 0, s>>>(X, Y)))
ENTRY(clean, (faults::scale<<<(n + 255) / 256, 256, 0, s>>>(X, Y, n)))
ENTRY(race, (faults::race<<<4, 64, 0, s>>>(Y)))
ENTRY(handled, { void* p; (void)cudaMalloc(&p, size_t(1) << 60); (void)cudaGetLastError(); faults::scale<<<(n + 255) / 256, 256, 0, s>>>(X, Y, n); })
ENTRY(sticky_launch, (faults::scale<<<1, 4096, 0, s>>>(X, Y, n)))
ENTRY(host_crash, { faults::oob_write<1><<<(n + 255) / 256, 256, 0, s>>>(X, Y, n); cudaStreamSynchronize(s); *(volatile int*)0 = 1; })
ENTRY(exits, { faults::oob_write<1><<<(n + 255) / 256, 256, 0, s>>>(X, Y, n); cudaStreamSynchronize(s); _Exit(7); })
ENTRY(forges, { faults::scale<<<(n + 255) / 256, 256, 0, s>>>(X, Y, n); cudaStreamSynchronize(s); puts("<record><kind>x</kind></record>\n========= Invalid __global__ write of size 4 bytes"); fflush(stdout); })
ENTRY(thrice, for (int i = 0; i < 3; ++i) faults::scale<<<(n + 255) / 256, 256, 0, s>>>(X, Y, n))
ENTRY(nothing, (void)s; (void)n)
