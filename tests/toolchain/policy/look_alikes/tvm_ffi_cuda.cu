// expect: paper=ok strict=ok
// A whole CUDA candidate in TVM-FFI form.
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>
__global__ void scale(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
    auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
    scale<<<(x.numel() + 255) / 256, 256, 0, stream>>>((const float *)x.data_ptr(), (float *)y.data_ptr(), x.numel());
    TVM_FFI_ICHECK_EQ(cudaGetLastError(), cudaSuccess);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
