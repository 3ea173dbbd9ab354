// header: full
// good: run t
#include <tvm/ffi/tvm_ffi.h>

using namespace tvm::ffi;

int64_t run(TensorView x) { return x.numel(); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
