// Has itself ended by a timer.
#include "softmax.h"

#include <sys/time.h>
void run(float*, float*, int64_t, int64_t) {
  const itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  for (volatile int turns = 0;;) turns = turns + 1;
}
