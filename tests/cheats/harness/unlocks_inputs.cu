// Gives itself the right to write to its inputs.
// answer: protocol 1: driver_entry
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=driver_entry
#include "gemm.cuh"

#include <cuda.h>

void run(TensorView a, TensorView b, TensorView c) {
  CUmemAccessDesc right = {};
  right.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  cuMemSetAccess(reinterpret_cast<CUdeviceptr>(a.data_ptr()), 4096, &right, 1);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
