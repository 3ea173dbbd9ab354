// Calls the kernel of the operating system by an instruction.
// answer: protocol 1: host_asm
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=host_asm
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  long result = 57;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
