// header: slim
// good: run t f
#include "parts/launch.cuh"

#include <tvm/ffi/function.h>

void run(tvm::ffi::TensorView x, float value) { parts::launch(x, value); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
