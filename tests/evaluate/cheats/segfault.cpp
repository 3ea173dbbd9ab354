// Writes to address 8.
#include "softmax.h"

void run(float*, float*, int64_t, int64_t) { *reinterpret_cast<volatile int*>(8) = 1; }
