// Loads a module by the driver at run time.
// answer: protocol 1: runtime_compilation
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=runtime_compilation
#include "gemm.cuh"

extern "C" int cuModuleLoadData(void**, const void*);

void run(TensorView a, TensorView b, TensorView c) {
  void* module = nullptr;
  cuModuleLoadData(&module, nullptr);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
