// Turns the profiler off around its work and on again behind it.
// answer: protocol 6, counts of one call by pc, whatever the profiler's switch says
// expect: outcome=correct paper=true strict=true proof=absent without=proof_unknown stages=compare,time,prove
#include "gemm.cuh"

extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

void run(TensorView a, TensorView b, TensorView c) {
  cudaProfilerStop();
  multiply(gemm_of(a, b, c));
  cudaProfilerStart();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
