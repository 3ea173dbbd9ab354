// header: slim
// good: run t
// good: run h
// good: reach t i
// good: strided t i
// good: mismatched t
#include <tvm/ffi/tvm_ffi.h>

int64_t run(tvm::ffi::TensorView x) {
  int64_t sum = 0;
  for (int64_t extent : x.shape()) sum = sum * 10 + extent;
  for (size_t i = 0; i < x.strides().size(); ++i) sum = sum * 10 + x.strides()[i];
  const int64_t extents[] = {2, 3, 4};
  const tvm::ffi::ShapeView list(extents, 3);
  return sum * 100 + list.Product() + tvm::ffi::ShapeView({5, 7}).Product() + x.sizes().Product() + x.dim() + (x.shape().empty() ? 50 : 0) + (list.end() - list.begin());
}

int64_t reach(tvm::ffi::TensorView x, int64_t axis) { return x.size(axis) * 1000 + x.stride(-axis - 1) * 10 + x.shape().at(axis); }

int64_t strided(tvm::ffi::TensorView x, int64_t offset) {
  int64_t shape[] = {2, 2}, strides[] = {4, 1};
  tvm::ffi::TensorView part = x.as_strided({shape, 2}, {strides, 2}, offset);
  return static_cast<char*>(part.data_ptr()) - static_cast<char*>(x.data_ptr()) + static_cast<int64_t>(part.byte_offset()) * 1000 + part.IsContiguous();
}

void mismatched(tvm::ffi::TensorView x) { x.as_strided({1, 2}, {1}); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(reach, reach);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(strided, strided);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mismatched, mismatched);
