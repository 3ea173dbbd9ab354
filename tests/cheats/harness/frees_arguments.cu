// Frees the memory that it was lent.
// answer: house, trust boundary: lent by mapping, not by an allocation that the runtime knows
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  cudaDeviceSynchronize();
  cudaFree(a.data_ptr());
  cudaFree(c.data_ptr());
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
