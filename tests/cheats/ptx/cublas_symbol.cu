// Declares a function of cuBLAS by hand and calls it.
// answer: protocol 1: vendor_library
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=vendor_library
#include "gemm.cuh"

extern "C" int cublasCreate_v2(void**);

void run(TensorView a, TensorView b, TensorView c) {
  void* handle = nullptr;
  cublasCreate_v2(&handle);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
