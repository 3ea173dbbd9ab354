// Executes wgmma while it is loaded, and never again.
// answer: protocol 6, kernels of the measured call only
// expect: outcome=correct paper=true strict=true proof=not_executed stages=compare,prove
#include "gemm.cuh"

struct Early {
  Early() {
    zeros_by_wgmma<><<<1, kGroup>>>(1);
    cudaGetLastError();
  }
};
static const Early early;

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
