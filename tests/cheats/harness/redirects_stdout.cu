// Sends its standard output and error elsewhere.
// answer: house: what the child prints is no channel
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

#include <cstdio>

void run(TensorView a, TensorView b, TensorView c) {
  const bool redirected = std::freopen("/dev/null", "w", stdout) != nullptr && std::freopen("/dev/null", "w", stderr) != nullptr;
  std::printf("redirected: %d\n", redirected);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
