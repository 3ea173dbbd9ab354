// header: slim
// good: run f i b
// good: run n n n
// good: passed i
// good: fallback n
#include <tvm/ffi/tvm_ffi.h>

using tvm::ffi::Optional;

double run(Optional<double> scale, Optional<int64_t> count, Optional<bool> causal) {
  double result = scale.value_or(0.5) * 1000 + static_cast<double>(count.value_or(7)) * 10;
  if (causal) result += *causal ? 2 : 1;
  return result;
}

Optional<int32_t> passed(Optional<int32_t> x) { return x; }
float fallback(Optional<float> x) { return x.value(); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(passed, passed);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fallback, fallback);
