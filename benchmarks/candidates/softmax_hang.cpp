#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  volatile float* out = static_cast<float*>(y.data_ptr());
  while (out[0] != 2.0f) out[0] = static_cast<float*>(x.data_ptr())[0];
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
