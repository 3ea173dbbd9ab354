// Includes a file of the machine by its absolute path.
// answer: protocol 1: include_path
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=include_path
#include "gemm.cuh"

#include "/etc/passwd"

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
