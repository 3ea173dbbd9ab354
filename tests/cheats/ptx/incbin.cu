// Has the assembler take a file into the binary.
// answer: protocol 1: incbin
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=incbin
#include "gemm.cuh"

asm(".incbin \"kernels.cubin\"");

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
