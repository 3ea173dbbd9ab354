// expect: paper=ok strict=ok
// Bears the name of a file of the build.
__global__ void set(int *x) { *x = 1; }
extern "C" __attribute__((visibility("default"))) void run(int *x) { set<<<1, 1>>>(x); }
