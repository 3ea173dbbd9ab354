// header: full
// good: run t
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/tvm_ffi.h>

int64_t run(tvm::ffi::TensorView x) {
  tvm::ffi::Map<tvm::ffi::String, int64_t> counts;
  counts.Set("x", x.numel());
  return counts["x"];
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
