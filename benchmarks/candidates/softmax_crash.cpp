#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  float* out = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0;; i += 1024) out[i] = static_cast<float*>(x.data_ptr())[0];
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
