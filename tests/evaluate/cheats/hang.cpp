// Never returns.
#include "softmax.h"

void run(float*, float*, int64_t, int64_t) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
