// Has CUTLASS's name space in its own text.
// answer: protocol 1: cutlass
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=cutlass
#include "gemm.cuh"

namespace cutlass {
inline int version() { return 3; }
}  // namespace cutlass

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  TVM_FFI_ICHECK_EQ(cutlass::version(), 3);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
