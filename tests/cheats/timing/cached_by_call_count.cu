// Knows that timed calls go round four slots, and keeps four results by the number of the call.
// answer: protocol 3, timed outputs on a second set of inputs, so that caching by call count fails
// expect: outcome=wrong_value|tampered paper=true strict=false stages=compare,time
#include "gemm.cuh"

static bf16* memory(size_t bytes) {
  void* kept = nullptr;
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaMalloc(&kept, bytes)), 0);
  return static_cast<bf16*>(kept);
}

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  static bf16* results[kSlots];
  const Gemm g = gemm_of(a, b, c);
  if (calls++ < kCompared) return multiply(g);
  bf16*& kept = results[(calls - 1 - kCompared) % kTrial % kSlots];
  if (kept == nullptr) multiply(g.to(kept = memory(g.bytes())));
  cudaMemcpyAsync(g.c, kept, g.bytes(), cudaMemcpyDeviceToDevice, g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
