// Multiplies into memory of its own and copies the result on another stream that nothing waits for.
// answer: protocol 5, copies are in the span, on any stream, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none without=late_work
#include "gemm.cuh"

static bf16* memory(size_t bytes) {
  void* kept = nullptr;
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaMalloc(&kept, bytes)), 0);
  return static_cast<bf16*>(kept);
}

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  static bf16* own = memory(g.bytes());
  static cudaStream_t stream = nullptr;
  static cudaEvent_t done;
  if (stream == nullptr) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  multiply(g.to(own));
  cudaEventRecord(done, g.stream);
  cudaStreamWaitEvent(stream, done, 0);
  cudaMemcpyAsync(g.c, own, g.bytes(), cudaMemcpyDeviceToDevice, stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
