// Reads behind the end of A and uses nothing of it.
// answer: protocol 4, memcheck on allocations of exact size
// expect: outcome=sanitizer_error paper=false strict=false stages=compare,sanitize
#include "gemm.cuh"

__global__ void peek(const volatile unsigned* place) { (void)*place; }

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  peek<<<1, 1, 0, g.stream>>>(reinterpret_cast<const unsigned*>(g.a + size_t(g.m) * g.k));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
