// Leaves a kernel on the device that never ends, to do the work of later calls.
// answer: protocol 8, a run of the candidate: a call ends when its context is idle, and this one never is
// expect: outcome=timeout paper=false strict=false kind=timeout stages=compare run_s=2
#include "gemm.cuh"

__global__ void stay(volatile int* stop) {
  while (*stop == 0) __nanosleep(1000);
}

void run(TensorView a, TensorView b, TensorView c) {
  static int* stop = nullptr;
  static cudaStream_t stream = nullptr;
  if (stop == nullptr) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&stop, sizeof *stop);
    cudaMemset(stop, 0, sizeof *stop);
    stay<<<1, 1, 0, stream>>>(stop);
  }
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
