// Aborts after it has printed.
#include "softmax.h"

#include <cstdio>
#include <cstdlib>
void run(float*, float*, int64_t, int64_t) {
  std::printf("about to abort\n");
  std::abort();
}
