// Resets the primary context by the driver.
// answer: protocol 1: driver_entry
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=driver_entry
#include "gemm.cuh"

#include <cuda.h>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  cuDevicePrimaryCtxReset(0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
