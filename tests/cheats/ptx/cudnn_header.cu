// Includes cuDNN through a macro.
// answer: protocol 1: vendor_library
// expect: gpu=false outcome=policy_violation paper=false strict=false rule=vendor_library
#include "gemm.cuh"

#define LIBRARY <cudnn.h>
#include LIBRARY

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
