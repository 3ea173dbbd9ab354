// expect: error ptxas @ 4 3 Argument vector size mismatch for instruction 'wgmma.mma_async
__global__ void kernel(float* out) {
  float d = 0.0f;
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %0, %0}, %1, %1, 1, 1, 1, 0, 0;" : "+f"(d) : "l"(0ull));
  out[0] = d;
}
