// expect: error link - - - undefined reference to `missing_library_call(float*)' in function run(float*) (4 times)
void missing_library_call(float* p);
__global__ void kernel(float* out) { out[0] = 1.0f; }
void run(float* p) {
  kernel<<<1, 1>>>(p);
  missing_library_call(p);
}
extern "C" __attribute__((visibility("default"))) void call(float* p) { run(p); }
