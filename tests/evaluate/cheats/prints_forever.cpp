// Prints without end.
#include "softmax.h"

#include <cstdio>
void run(float*, float*, int64_t, int64_t) {
  for (;;) std::printf("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n");
}
