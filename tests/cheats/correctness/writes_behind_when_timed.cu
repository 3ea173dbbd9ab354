// Writes behind its output in timed calls only.
// answer: protocol 3, guard bands after timed calls too
// expect: outcome=wrong_value paper=false strict=false text="4 bytes beside C" stages=compare,time
#include "gemm.cuh"

__global__ void spill(unsigned* place) { *place = 0; }

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  if (calls++ >= kCompared) spill<<<1, 1, 0, g.stream>>>(reinterpret_cast<unsigned*>(g.c + size_t(g.m) * g.n));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
