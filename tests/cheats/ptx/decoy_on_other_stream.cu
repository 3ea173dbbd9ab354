// mma.sync does the work; a decoy multiplies zeros on a stream of its own, at no cost.
// answer: protocol 6, work_share: a decoy's is near 0
// expect: outcome=correct paper=true strict=true proof=qualified flags=work_share stages=compare,time,prove
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  zeros_by_wgmma<><<<1, kGroup, 0, stream>>>(1);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
