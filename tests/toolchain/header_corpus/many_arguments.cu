// header: slim
// good: run t t t f i b s n t d v i
// Several wrong arguments at once: the same one must be named.
#include <tvm/ffi/tvm_ffi.h>

using tvm::ffi::Optional;
using tvm::ffi::String;
using tvm::ffi::TensorView;

int64_t run(TensorView q, const TensorView& k, TensorView v, float scale, int64_t window, bool causal, String mode, Optional<TensorView> mask,
            Optional<TensorView> out, DLDataType dtype, DLDevice device, Optional<int> splits) {
  return q.ndim() + k.ndim() + v.ndim() + static_cast<int64_t>(scale) + window + causal + static_cast<int64_t>(mode.size()) + mask.has_value() +
         out.has_value() + dtype.bits + device.device_id + splits.value_or(3);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
