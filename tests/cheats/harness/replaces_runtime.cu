// Defines a function of the CUDA driver for others to call.
// answer: protocol 1: symbol_override
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=symbol_override
#include "gemm.cuh"

extern "C" __attribute__((visibility("default"))) int cuEventRecord(void*, void*) { return 0; }

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
