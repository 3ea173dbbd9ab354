// header: error
#include <tvm/ffi/tvm_ffi.h>

int64_t run(tvm::ffi::TensorView x) { return x.no_such_member(); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
