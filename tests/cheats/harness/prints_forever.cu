// Prints without end.
// answer: protocol 8, 1 MiB of output kept; a run of the candidate
// expect: outcome=timeout paper=false strict=false kind=timeout stages=compare run_s=2
#include "gemm.cuh"

#include <cstdio>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  for (;;) std::puts("still there");
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
