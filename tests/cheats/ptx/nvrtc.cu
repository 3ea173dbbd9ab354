// Compiles at run time.
// answer: protocol 1: runtime_compilation
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=runtime_compilation
#include "gemm.cuh"

extern "C" int nvrtcVersion(int*, int*);

void run(TensorView a, TensorView b, TensorView c) {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
