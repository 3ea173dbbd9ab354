// Says by its exit status which door to the judge or to the network is open; 0 is none.
#include "softmax.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
void run(float* x, float* y, int64_t m, int64_t n) {
  const pid_t judge = getppid();
  char path[64], word[8];
  for (const char* name : {"mem", "environ", "maps", "fd/0"}) {
    std::snprintf(path, sizeof path, "/proc/%d/%s", judge, name);
    if (open(path, O_RDONLY) >= 0) _exit(1);
  }
  iovec here = {word, sizeof word}, there = {x, sizeof word};
  if (process_vm_readv(judge, &here, 1, &there, 1, 0) >= 0) _exit(2);
  if (ptrace(PTRACE_ATTACH, judge, nullptr, nullptr) == 0) _exit(3);
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0) _exit(4);
  if (std::getenv("PTXBENCH_TEST_SECRET") != nullptr || std::getenv("HOME") != nullptr) _exit(5);
  if (execl("/bin/true", "true", nullptr) != -1) _exit(6);
  softmax(x, y, m, n);
}
