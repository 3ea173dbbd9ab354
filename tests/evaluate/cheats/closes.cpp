// Closes every descriptor, as a daemon would.
#include "softmax.h"

#include <unistd.h>
void run(float* x, float* y, int64_t m, int64_t n) {
  softmax(x, y, m, n);
  for (int fd = 0; fd < 256; ++fd) close(fd);
}
