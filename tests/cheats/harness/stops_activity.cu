// Switches the records off that latencies are made of.
// answer: protocol 1: unknown_import
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=unknown_import
#include "gemm.cuh"

extern "C" int cuptiActivityDisable(int);

void run(TensorView a, TensorView b, TensorView c) {
  cuptiActivityDisable(10);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
