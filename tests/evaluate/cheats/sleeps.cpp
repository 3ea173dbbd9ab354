// Sleeps past the limit, and again when it is woken.
#include "softmax.h"

#include <unistd.h>
void run(float*, float*, int64_t, int64_t) {
  for (;;) sleep(3600);
}
