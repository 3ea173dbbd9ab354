// header: error
#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView& x) {}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
