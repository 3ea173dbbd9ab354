// expect: error host @ 4 - no such instruction: `unknown-mnemonic'
__global__ void kernel(float* out) { out[0] = 1.0f; }
void run() {
  asm volatile("unknown-mnemonic");
}
