// Leaves an error in the CUDA runtime that does not stay, and goes on.
// answer: protocol 3: values decide
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  void* much = nullptr;
  cudaMalloc(&much, size_t{1} << 50);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
