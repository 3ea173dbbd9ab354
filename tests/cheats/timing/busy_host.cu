// Keeps the host busy for 3 ms before it launches: host time in front of the span is in no kernel's.
// answer: protocol 5, the parent's wall clock: a flag where host time is long
// expect: outcome=correct paper=true strict=true flags=clock_disagrees stages=compare,time
#include "gemm.cuh"

#include <chrono>

void run(TensorView a, TensorView b, TensorView c) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(3)) {
  }
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
