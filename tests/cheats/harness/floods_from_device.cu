// Prints from many threads of a kernel.
// answer: protocol 8, 1 MiB of output kept
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

#include <cstdio>

__global__ void talk() { printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); }

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  talk<<<256, 256>>>();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
