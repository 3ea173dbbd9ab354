// header: error
#include <tvm/ffi/tvm_ffi.h>

tvm::ffi::TensorView run(tvm::ffi::TensorView x) { return x; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
