// header: full
// good: run s
#include <string>
#include <tvm/ffi/tvm_ffi.h>

std::string run(const std::string& x) { return x + "!"; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
