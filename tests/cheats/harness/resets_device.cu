// Resets the device after its work, and with it every mapping of the judge's memory in its process.
// answer: protocol 8, one candidate costs its own child
// expect: outcome=runtime_error paper=false strict=false stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  cudaDeviceSynchronize();
  cudaDeviceReset();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
