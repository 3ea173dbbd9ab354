// Prints 8 MiB in its first call.
// answer: protocol 8, 1 MiB of output kept (head and tail)
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

#include <cstdio>

void run(TensorView a, TensorView b, TensorView c) {
  static bool printed = false;
  for (int i = 0; i < (1 << 17) && !printed; ++i) std::puts("C = A * B^T, and this line is sixty-four characters long or so..");
  printed = true;
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
