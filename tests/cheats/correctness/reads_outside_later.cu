// Reads behind the end of A from its second call on.
// answer: protocol 4, memcheck, of one call
// expect: outcome=correct paper=true strict=true stages=compare,sanitize
// open: memcheck sees one call, and a read changes nothing that guard bands could show: no flag yet
#include "gemm.cuh"

__global__ void peek(const volatile unsigned* place) { (void)*place; }

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  if (calls++ > 0) peek<<<1, 1, 0, g.stream>>>(reinterpret_cast<const unsigned*>(g.a + size_t(g.m) * g.k));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
