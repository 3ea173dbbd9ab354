// header: error
// function.h alone declares no tensors.
#include <tvm/ffi/function.h>

int64_t run(tvm::ffi::TensorView x) { return x.numel(); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
