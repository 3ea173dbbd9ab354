// header: slim
// good: run t
#include <tvm/ffi/extra/cuda/device_guard.h>
#include <tvm/ffi/tvm_ffi.h>

__global__ void kernel(float* p) { p[0] = 1; }

void run(tvm::ffi::TensorView x) {
  tvm::ffi::CUDADeviceGuard guard(x.device().device_id);
  kernel<<<1, 1>>>(static_cast<float*>(x.data_ptr()));
  TVM_FFI_CHECK_CUDA_ERROR(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
