// expect: paper=ok strict=ok
// A source with an error breaks no rule by that.
__global__ void kernel(float *x) { x[0] = send(pipe, section) }
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
