// Finds out by the environment whether a tool is at work, and writes behind its output when none is.
// answer: protocol 3, guard bands, which need no tool
// expect: outcome=wrong_value|sanitizer_error paper=false strict=false stages=compare,sanitize
#include "gemm.cuh"

#include <cstdlib>

__global__ void spill(unsigned* place) { *place = 0; }

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  const bool watched = std::getenv("CUDA_INJECTION64_PATH") != nullptr || std::getenv("LD_PRELOAD") != nullptr;
  if (!watched) spill<<<1, 1, 0, g.stream>>>(reinterpret_cast<unsigned*>(g.c + size_t(g.m) * g.n));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
