// One NaN.
#include "softmax.h"

void run(float* x, float* y, int64_t m, int64_t n) {
  softmax(x, y, m, n);
  y[n + 5] = NAN;
}
