// header: slim
// good: run t n
// good: run t t
// good: owned T
// good: returned T
#include <tvm/ffi/tvm_ffi.h>

using tvm::ffi::Optional;
using tvm::ffi::Tensor;
using tvm::ffi::TensorView;

int64_t run(TensorView x, Optional<TensorView> bias) {
  if (!bias.has_value()) return -1;
  if (bias == std::nullopt) return -2;
  const TensorView& view = *bias;
  return view.size(0) + bias.value().ndim() + (bias ? 1 : 0);
}

int64_t owned(const Optional<Tensor>& x) { return x.has_value() ? x.value().numel() : x.value().ndim(); }

Optional<Tensor> returned(Optional<Tensor> x) {
  if (x != std::nullopt) return x;
  return std::nullopt;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(owned, owned);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(returned, returned);
