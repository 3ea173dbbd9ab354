// Registers a device image by the compiler's own function.
// answer: protocol 1: runtime_compilation
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=runtime_compilation
#include "gemm.cuh"

extern "C" void** __cudaRegisterFatBinary(void*);

void run(TensorView a, TensorView b, TensorView c) {
  __cudaRegisterFatBinary(nullptr);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
