// Works on a stream of its own that nothing waits for, and returns.
// answer: protocol 5, on any stream: a call ends when its context is idle, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none without=late_work
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  multiply(gemm_of(a, b, c).on(stream));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
