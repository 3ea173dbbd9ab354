// expect: error preprocess @ 3 - include without end: self_include.cu -> self_include.cu
__global__ void kernel(float* out);
#include "self_include.cu"
