// expect: paper=ok strict=ok
// Pragmas.
__global__ void kernel(float *x) {
#pragma unroll 4
    for (int i = 0; i < 16; ++i) x[i] += 1;
}
#pragma GCC diagnostic ignored "-Wunused"
extern "C" __attribute__((visibility("default"))) int run(float *x) { kernel<<<1, 1>>>(x); return 0; }
