// wgmma does half of the rows, mma.sync the others.
// answer: protocol 6, work_share below the task's range
// expect: outcome=correct paper=true strict=true proof=qualified flags=work_share stages=compare,prove
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  Gemm upper = gemm_of(a, b, c), lower = upper;
  upper.m = lower.m / 2;
  lower.m -= upper.m;
  lower.a += static_cast<size_t>(upper.m) * lower.k;
  lower.c += static_cast<size_t>(upper.m) * lower.n;
  multiply_by_wgmma(upper);
  multiply(lower);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
