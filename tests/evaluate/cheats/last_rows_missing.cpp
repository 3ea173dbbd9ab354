// A grid that is too small: the last rows are never written.
#include "softmax.h"

void run(float* x, float* y, int64_t m, int64_t n) { softmax(x, y, m / 8 * 8, n); }
