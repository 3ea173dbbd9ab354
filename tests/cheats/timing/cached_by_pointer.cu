// Keeps a result by the addresses of its arguments.
// answer: protocol 3, fresh inputs in the same place for every draw
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

#include <map>

static bf16* memory(size_t bytes) {
  void* kept = nullptr;
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaMalloc(&kept, bytes)), 0);
  return static_cast<bf16*>(kept);
}

void run(TensorView a, TensorView b, TensorView c) {
  static std::map<void*, bf16*> results;
  const Gemm g = gemm_of(a, b, c);
  bf16*& kept = results[a.data_ptr()];
  if (kept == nullptr) multiply(g.to(kept = memory(g.bytes())));
  cudaMemcpyAsync(g.c, kept, g.bytes(), cudaMemcpyDeviceToDevice, g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
