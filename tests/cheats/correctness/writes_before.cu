// Writes 4 bytes in front of its output.
// answer: protocol 3, guard bands either side
// expect: outcome=wrong_value paper=false strict=false text="4 bytes beside C" stages=compare
#include "gemm.cuh"

__global__ void spill(unsigned* place) { *place = 0; }

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  spill<<<1, 1, 0, g.stream>>>(reinterpret_cast<unsigned*>(g.c) - 1);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
