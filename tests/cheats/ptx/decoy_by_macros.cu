// mma.sync does the work; a decoy's opcode is put together by macros, so that no text of the source holds it.
// answer: protocol 6, executed opcodes of the binary, whatever the source looks like; work_share
// expect: outcome=correct paper=true strict=true proof=qualified flags=work_share stages=compare,prove
#include "gemm.cuh"

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)
#define OPCODE TEXT(JOIN(wg, mma)) "." TEXT(JOIN(mma, _async))

__global__ void decoy() {
  __shared__ __align__(128) uint4 zeros[2][kTile];
  __shared__ volatile float kept[kGroup];
  for (int i = threadIdx.x; i < 2 * kTile; i += kGroup) zeros[i / kTile][i % kTile] = make_uint4(0, 0, 0, 0);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const uint64_t tile = descriptor(zeros, kTile);
  float d[4] = {};
  asm volatile(TEXT(JOIN(wg, mma)) ".fence.sync.aligned;" ::: "memory");
  asm volatile(OPCODE ".sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(tile));
  asm volatile(TEXT(JOIN(wg, mma)) ".commit_group.sync.aligned;" ::: "memory");
  asm volatile(TEXT(JOIN(wg, mma)) ".wait_group.sync.aligned 0;" ::: "memory");
  kept[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
  if (kept[threadIdx.x] != 0.0f) __trap();
}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  decoy<<<1, kGroup>>>();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
