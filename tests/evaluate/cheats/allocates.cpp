// Takes 100 GB, a gigabyte a time.
#include "softmax.h"

void run(float*, float* y, int64_t, int64_t) {
  for (int i = 0; i < 100; ++i) (new volatile char[1 << 30])[i] = 1;
  y[0] = 1;
}
