// What the host side of the attention kernels shares.

#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include "tile.cuh"

namespace plain {

inline void check(cudaError_t error, const char* what) {
  TVM_FFI_ICHECK_EQ(static_cast<int>(error), static_cast<int>(cudaSuccess)) << what << ": " << cudaGetErrorString(error);
}

inline const __nv_bfloat16* input(const tvm::ffi::TensorView& tensor) {
  return static_cast<const __nv_bfloat16*>(tensor.data_ptr());
}

inline __nv_bfloat16* output(const tvm::ffi::TensorView& tensor) { return static_cast<__nv_bfloat16*>(tensor.data_ptr()); }

inline cudaStream_t stream_of(const tvm::ffi::TensorView& tensor) {
  return static_cast<cudaStream_t>(TVMFFIEnvGetStream(tensor.device().device_type, tensor.device().device_id));
}

// One block for every 64 rows of every head of a [batch, heads, length, features] tensor.
inline unsigned blocks_of(const tvm::ffi::TensorView& tensor) {
  return static_cast<unsigned>(tensor.size(0) * tensor.size(1) * ((tensor.size(2) + kTile - 1) / kTile));
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int shared_bytes, unsigned blocks, cudaStream_t stream, Arguments... arguments) {
  if (blocks == 0) {
    return;
  }
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "cudaFuncSetAttribute");
  kernel<<<blocks, kThreads, shared_bytes, stream>>>(arguments...);
  check(cudaGetLastError(), "launch");
}

}  // namespace plain
