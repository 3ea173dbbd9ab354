// Writes one element behind its output.
#include "softmax.h"

void run(float* x, float* y, int64_t m, int64_t n) {
  softmax(x, y, m, n);
  y[m * n] = 1;
}
