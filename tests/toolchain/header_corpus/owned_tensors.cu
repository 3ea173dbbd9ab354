// header: slim
// good: run T
// good: same T T
// good: borrowed T
// good: describe T
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

namespace ffi = tvm::ffi;

ffi::Tensor run(ffi::Tensor x) { return x; }

bool same(const ffi::Tensor& a, const ffi::Tensor& b) {
  ffi::Tensor moved = a;
  ffi::Tensor other = std::move(moved);
  moved = b;
  return other.same_as(b) && moved == b && other.defined() && !(a != b);
}

int64_t borrowed(ffi::Tensor x) {
  ffi::TensorView view = x;
  view = x;
  return view.size(-1) + view.stride(0);
}

int64_t describe(ffi::Tensor x) {
  int64_t sum = x.numel() + x.ndim() + x.dim() + x.byte_offset() + x.size(0) + x.stride(1);
  sum += x.dtype().bits + x.device().device_type + x.shape()[0] + x.sizes().back() + x.strides().front();
  return sum + x.IsContiguous() + x.is_contiguous() + x.IsAligned(1) + (x.GetDLTensorPtr()->data == x.data_ptr());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(same, same);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(borrowed, borrowed);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(describe, describe);
