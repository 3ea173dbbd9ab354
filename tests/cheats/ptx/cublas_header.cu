// Includes cuBLAS, the published rule's own case.
// answer: protocol 1: vendor_library
// expect: gpu=false outcome=policy_violation paper=false strict=false rule=vendor_library
#include "gemm.cuh"

#include <cublas_v2.h>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
