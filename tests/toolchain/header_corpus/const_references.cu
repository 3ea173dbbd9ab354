// header: slim
// good: run t h i f
// Arguments by const reference, const value and rvalue reference.
#include <tvm/ffi/tvm_ffi.h>

using tvm::ffi::TensorView;

static int64_t run(const TensorView& x, const TensorView y, const int64_t& rows, float&& scale) {
  return x.numel() * 1000 + y.ndim() * 100 + rows + static_cast<int64_t>(scale);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
