// Writes 4 bytes behind its output.
// answer: protocol 4, memcheck on allocations of exact size; protocol 3, guard bands
// expect: outcome=sanitizer_error paper=false strict=false stages=compare,sanitize
#include "gemm.cuh"

__global__ void spill(unsigned* place) { *place = 0; }

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  spill<<<1, 1, 0, g.stream>>>(reinterpret_cast<unsigned*>(g.c + size_t(g.m) * g.n));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
