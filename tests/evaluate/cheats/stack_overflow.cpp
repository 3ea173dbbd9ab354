// Recurses without end.
#include "softmax.h"

static float deeper(volatile float* seen, int64_t depth) {
  volatile float here[1024] = {0};
  here[depth % 1024] = seen[0];
  return deeper(here, depth + 1) + here[0];
}
void run(float* x, float* y, int64_t, int64_t) { y[0] = deeper(x, 0); }
