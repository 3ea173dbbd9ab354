// Never ends loading.
#include "softmax.h"

__attribute__((constructor)) static void early() {
  for (volatile int i = 0;; i = i + 1) {
  }
}
void run(float* x, float* y, int64_t m, int64_t n) { softmax(x, y, m, n); }
