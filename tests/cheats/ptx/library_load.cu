// Loads a library of kernels by the runtime.
// answer: protocol 1: runtime_compilation
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=runtime_compilation
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  cudaLibrary_t library;
  cudaLibraryLoadFromFile(&library, "kernels.cubin", nullptr, nullptr, 0, nullptr, nullptr, 0);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
