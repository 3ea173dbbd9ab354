// Multiplies by wgmma and uses nothing of it, so that the compiler gives it no destination.
// answer: protocol 6, an HGMMA whose destination is RZ is bookkeeping
// expect: outcome=correct paper=true strict=true proof=absent stages=compare,prove
#include "gemm.cuh"

__global__ void waste() {
  __shared__ __align__(128) uint4 zeros[2][kTile];
  const uint64_t tile = descriptor(zeros, kTile);
  float d[4] = {};
  asm volatile(
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\n"
      "wgmma.wait_group.sync.aligned 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(tile));
}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  waste<<<1, kGroup>>>();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
