// Calls a function of the harness through TVM-FFI's registry.
// answer: protocol 1: ffi_registry
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=ffi_registry
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  TVMFFIByteArray name{"ffi.ModuleLoadFromFile", 22};
  TVMFFIObjectHandle function = nullptr;
  TVMFFIFunctionGetGlobal(&name, &function);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
