// Launches a kernel whose wgmma stands in a branch that is never taken: the fast way that is only for show.
// answer: protocol 6, executed and predicate-true counts, not what stands in the binary
// expect: outcome=correct paper=true strict=true proof=not_executed stages=compare,prove
#include "gemm.cuh"

__global__ void shows(int never) {
  if (never != 0) multiply_zeros(never);
}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  shows<<<1, kGroup>>>(0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
