// header: error
#include <tvm/ffi/tvm_ffi.h>

__global__ void kernel(float* p) { p[threadIdx.x] = undeclared; }

void run(tvm::ffi::TensorView x) { kernel<<<1, 1>>>(static_cast<float*>(x.data_ptr())); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
