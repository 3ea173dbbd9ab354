// Closes every descriptor and never returns.
#include "softmax.h"

#include <unistd.h>
void run(float*, float*, int64_t, int64_t) {
  for (int fd = 0; fd < 256; ++fd) close(fd);
  for (;;) pause();
}
