// header: full
// good: run i
// good: passed t
#include <tvm/ffi/tvm_ffi.h>

using tvm::ffi::Any;
using tvm::ffi::AnyView;
using tvm::ffi::Function;

int64_t run(int64_t x) {
  Function add = Function::FromTyped([](int64_t a, int64_t b) { return a + b; });
  return add(x, 2).cast<int64_t>();
}
Any passed(AnyView x) { return x; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(passed, passed);
