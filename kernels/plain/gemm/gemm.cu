// The GEMM tasks by plain CUDA: what a compiler makes of them without target instructions. Any M and N, K a multiple of 8.

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include "gemm.cuh"

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = static_cast<int>(a.size(0));
  const int k = static_cast<int>(a.size(1));
  const int n = static_cast<int>(b.size(0));
  TVM_FFI_ICHECK_EQ(k % plain::kChunk, 0) << "rows of A and B must begin on 16 bytes";
  if (m == 0 || n == 0) {
    return;
  }
  const dim3 grid((m + plain::kTile - 1) / plain::kTile, (n + plain::kTile - 1) / plain::kTile);
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  plain::gemm<<<grid, plain::kThreads, plain::kSharedBytes, stream>>>(
      static_cast<const __nv_bfloat16*>(a.data_ptr()), static_cast<const __nv_bfloat16*>(b.data_ptr()),
      static_cast<__nv_bfloat16*>(c.data_ptr()), m, n, k);
  const cudaError_t error = cudaGetLastError();
  TVM_FFI_ICHECK_EQ(static_cast<int>(error), static_cast<int>(cudaSuccess)) << "launch: " << cudaGetErrorString(error);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
