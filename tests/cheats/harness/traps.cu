// Its kernel ends in a trap: an error that stays with the context.
// answer: protocol 8, it may fault the GPU: it costs its own child
// expect: outcome=runtime_error paper=false strict=false kind=cuda_error stages=compare
#include "gemm.cuh"

__global__ void fail() { __trap(); }

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  fail<<<1, 1>>>();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
