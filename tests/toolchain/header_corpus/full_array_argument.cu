// header: full
// good: run t
// The slim headers know no Array: this compiles with the full ones only.
#include <tvm/ffi/tvm_ffi.h>

int64_t run(tvm::ffi::Array<int64_t> shape) { return static_cast<int64_t>(shape.size()); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
