// header: slim
// good: run t
#include <cuda_runtime.h>
#include <tvm/ffi/tvm_ffi.h>

#define CUDA_CHECK(call)                                                                                 \
  do {                                                                                                   \
    cudaError_t status = (call);                                                                         \
    TVM_FFI_CHECK(status == cudaSuccess, RuntimeError) << #call << " failed: " << cudaGetErrorName(status); \
  } while (0)
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#ifndef TILE_ROWS
#define TILE_ROWS 64
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define FAST 1
#else
#define FAST 0
#endif

__global__ void kernel(float* p) { p[threadIdx.x] = FAST * TILE_ROWS; }

void run(tvm::ffi::TensorView x) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 14));
  kernel<<<CEIL_DIV(x.numel(), TILE_ROWS), TILE_ROWS, 1 << 14>>>(static_cast<float*>(x.data_ptr()));
  CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
