// header: slim
// good: run t s
#include <iostream>
#include <sstream>
#include <tvm/ffi/tvm_ffi.h>

tvm::ffi::String run(tvm::ffi::TensorView x, tvm::ffi::String name) {
  std::ostringstream text;
  text << name << ": " << x.dtype() << " x" << x.ndim();
  std::cerr << text.str() << std::endl;
  return text.str().c_str();
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
