// expect: error ptxas @ 3 3 Instruction 'tcgen05.wait' not supported on .target 'sm_90a'
__global__ void kernel(float* out) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  out[0] = 1.0f;
}
