// Crashes while it is loaded.
#include "softmax.h"

__attribute__((constructor)) static void early() { *reinterpret_cast<volatile int*>(8) = 1; }
void run(float* x, float* y, int64_t m, int64_t n) { softmax(x, y, m, n); }
