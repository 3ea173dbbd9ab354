// Asks for other devices, and leaves the wish behind.
// answer: house: no other GPU is visible; a call begins and ends in the primary context
// expect: outcome=correct paper=true strict=true stages=compare,time
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  for (int device = 7; device > 0; --device) cudaSetDevice(device);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
