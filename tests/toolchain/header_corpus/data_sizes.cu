// header: slim
// good: run t i
// good: owned T
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

int64_t run(ffi::TensorView x, int64_t alignment) {
  TVM_FFI_CHECK_GT(alignment, 0, ValueError);
  DLTensor raw{x.data_ptr(), x.device(), x.ndim(), x.dtype(), const_cast<int64_t*>(x.shape().data()), nullptr, x.byte_offset()};
  return static_cast<int64_t>(ffi::GetDataSize(x) * 100 + ffi::GetDataSize(3, x.dtype()) * 10) + ffi::IsContiguous(raw) + ffi::IsDirectAddressDevice(x.device()) +
         2 * ffi::IsAligned(raw, static_cast<size_t>(alignment));
}

int64_t owned(ffi::Tensor x) { return static_cast<int64_t>(ffi::GetDataSize(x)); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(owned, owned);
