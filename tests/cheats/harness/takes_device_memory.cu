// Takes all of the device's memory and keeps it, so that the judge has none to compare in.
// answer: protocol 8, GPU memory: three times what the task needs
// expect: outcome=runtime_error paper=false strict=false text=memory stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  void* taken = nullptr;
  for (size_t bytes = size_t{1} << 34; bytes >= size_t{1} << 20;) {
    if (cudaMalloc(&taken, bytes) != cudaSuccess) bytes /= 2;
  }
  cudaGetLastError();
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
