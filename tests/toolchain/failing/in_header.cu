// expect: error front part.h 2 10 identifier "not_there" is undefined
#include "part.h"
__global__ void kernel(float* out) { out[0] = part(); }
