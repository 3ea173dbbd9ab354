// Launches a kernel whose wgmma stands under a predicate that is always false.
// answer: protocol 6, predicate-true threads > 0
// expect: outcome=correct paper=true strict=true proof=not_executed stages=compare,prove
#include "gemm.cuh"

__global__ void idle(int never) {
  __shared__ __align__(128) uint4 zeros[2][kTile];
  const uint64_t tile = descriptor(zeros, kTile);
  float d[4] = {};
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %5, 0;\n"
      "wgmma.fence.sync.aligned;\n"
      "@p wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\n"
      "wgmma.wait_group.sync.aligned 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(tile), "r"(never));
  if (d[0] + d[1] + d[2] + d[3] != 0.0f) __trap();
}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  idle<<<1, kGroup>>>(0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
