// expect: error preprocess @ 3 1 unterminated comment
__global__ void kernel(float* out) { out[0] = 1.0f; }
/* this never ends
