// header: slim
// good: nothing
// good: whole
// good: real
// good: truth
// good: address
// good: literal
// good: empty
#include <cmath>
#include <tvm/ffi/tvm_ffi.h>

void nothing() {}
int64_t whole() { return -(int64_t{1} << 40); }
float real() { return 0.1f; }
bool truth() { return true; }
void* address() { return nullptr; }
tvm::ffi::String literal() { return tvm::ffi::String("longer than seven bytes"); }
tvm::ffi::String empty() { return {}; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nothing, nothing);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(whole, whole);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(real, real);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(truth, truth);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address, address);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(literal, literal);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(empty, empty);
