// header: slim
// good: run i
// good: rebuilt i
// good: copied i
#include <string>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

ffi::String run(int which) {
  try {
    TVM_FFI_ICHECK_EQ(which, 0) << "inner";
  } catch (const ffi::Error& error) {
    return (error.kind() + ": " + error.message() + "|" + error.what()).c_str();
  } catch (const std::exception& error) {
    return "not reached";
  }
  return "fine";
}

void rebuilt(int which) {
  if (which == 5) throw ffi::Error("KeyError", "built by hand", "");
  if (which == 1) throw ffi::Error(std::string("ValueError"), std::string("of strings"), TVMFFIBacktrace(nullptr, 0, nullptr, 0));
  throw ffi::EnvErrorAlreadySet();
}

void copied(int which) {
  std::exception_ptr pointer;
  try {
    TVM_FFI_THROW(ValueError) << "kept " << which;
  } catch (const ffi::Error& error) {
    ffi::Error copy = error;
    copy = error;
    pointer = std::make_exception_ptr(copy);
  }
  std::rethrow_exception(pointer);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(rebuilt, rebuilt);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(copied, copied);
