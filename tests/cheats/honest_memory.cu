// The product as it should be, by wgmma into a cleared workspace of its own that is copied out: fills and copies are honest work.
// answer: protocol 5, the span of a call; protocol 6, fills and copies of the runtime are nobody's foreign code
// expect: outcome=correct paper=true strict=true stages=compare,sanitize,time,prove proof=qualified without=work_share,foreign_code
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  void* own = nullptr;
  cudaMallocAsync(&own, g.bytes(), g.stream);
  cudaMemsetAsync(own, 0, g.bytes() / 2 + 3, g.stream);
  multiply_by_wgmma(g.to(static_cast<bf16*>(own)));
  cudaMemcpyAsync(g.c, own, g.bytes(), cudaMemcpyDeviceToDevice, g.stream);
  cudaFreeAsync(own, g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
