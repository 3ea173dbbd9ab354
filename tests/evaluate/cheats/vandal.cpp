// Tries to remove, change, replace and create files.
#include "softmax.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
void run(float* x, float* y, int64_t m, int64_t n) {
  unlink(VICTIM);
  chmod(VICTIM, 0);
  rename(VICTIM, VICTIM ".moved");
  (void)!truncate(VICTIM, 0);
  (void)!symlink(VICTIM, VICTIM ".link");
  mkdir(VICTIM ".folder", 0777);
  const int fd = open(VICTIM, O_WRONLY | O_TRUNC);
  if (fd >= 0) (void)!write(fd, "gone", 4);
  const int made = open(VICTIM ".made", O_CREAT | O_WRONLY, 0666);
  if (made >= 0) (void)!write(made, "here", 4);
  softmax(x, y, m, n);
}
