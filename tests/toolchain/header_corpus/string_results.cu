// header: slim
// good: run s
// good: short_one
// good: copied S
// good: moved S
#include <string>
#include <tvm/ffi/tvm_ffi.h>

std::string run(const std::string& x) { return x + "!"; }
std::string short_one() { return "short"; }
tvm::ffi::String copied(std::string x) { return tvm::ffi::String(x); }
tvm::ffi::String moved(std::string x) { return tvm::ffi::String(std::move(x)); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(short_one, short_one);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(copied, copied);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(moved, moved);
