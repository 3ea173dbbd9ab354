// Leaves out a tenth of the products.
// answer: protocol 3, the element rule
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) { multiply(gemm_of(a, b, c).summing(4608)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
