// Says that its code is a header's.
// answer: protocol 1: forged_lines
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=forged_lines
#include "gemm.cuh"

#line 1 "/usr/include/stdio.h"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
