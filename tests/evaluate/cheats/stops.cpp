// Stops its process, which then neither goes on nor ends.
#include "softmax.h"

#include <csignal>
void run(float* x, float* y, int64_t m, int64_t n) {
  softmax(x, y, m, n);
  std::raise(SIGSTOP);
}
