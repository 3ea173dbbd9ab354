// header: error
#include <optional>
#include <tvm/ffi/tvm_ffi.h>

int run(std::optional<int> x) { return x.value_or(1); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
