// expect: paper=ok strict=violation rule=host_asm line=4
// Host assembly beside device assembly.
__global__ void kernel(int *out) { asm volatile("membar.cta;"); *out = 1; }
extern "C" __attribute__((visibility("default"))) int run(int *out) { kernel<<<1, 1>>>(out); __asm("nop"); return 0; }
