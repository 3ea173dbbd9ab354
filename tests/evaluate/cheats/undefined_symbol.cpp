// Needs a function that nobody defines.
#include "softmax.h"

void nowhere();
void run(float* x, float* y, int64_t m, int64_t n) {
  nowhere();
  softmax(x, y, m, n);
}
