// Writes nothing at all, and hopes for old results in the output.
// answer: protocol 3, outputs are poisoned before each run
// expect: outcome=wrong_value paper=false strict=false pattern=unwritten stages=compare
#include "gemm.cuh"

void run(TensorView, TensorView, TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
