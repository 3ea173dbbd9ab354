// Divides by an integer zero.
#include "softmax.h"

volatile int seven = 7, zero = 0;
void run(float*, float* y, int64_t, int64_t) { y[0] = static_cast<float>(seven / zero); }
