// expect: error ptxas @ 4 3 Unknown modifier '.fnce' in `wgmma.fnce.sync.aligned;`
__global__ void kernel(float* out) {
  out[0] = 1.0f;
  asm volatile("wgmma.fnce.sync.aligned;" ::: "memory");
}
