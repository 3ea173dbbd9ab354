// Works in a context of its own, for whose end nobody waits.
// answer: protocol 1: driver_entry
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=driver_entry
#include "gemm.cuh"

#include <cuda.h>

void run(TensorView a, TensorView b, TensorView c) {
  CUcontext context;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxPushCurrent(context);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
