// Tries calls that lead out of the process, by number, so that no library stands between; says by its output which one worked.
#include "softmax.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool any = false;
static void tried(const char* what, long result) {
  if (result < 0) return;
  std::printf("open: %s\n", what);
  any = true;
}
#define TRY(...) tried(#__VA_ARGS__, syscall(__VA_ARGS__))

void run(float* x, float* y, int64_t m, int64_t n) {
  const pid_t judge = getppid();
  static char room[4096];
  int owner[2] = {1, judge};
  // other rights, other namespaces
  TRY(SYS_unshare, CLONE_NEWUSER);
  TRY(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  TRY(SYS_setns, 0, 0);
  TRY(SYS_setresuid, 0, 0, 0);
  TRY(SYS_personality, 0x40000);
  TRY(SYS_seccomp, 1, 0, room);
  TRY(SYS_landlock_create_ruleset, 0, 0, 1);
  TRY(SYS_chroot, "/usr");
  // the kernel's side doors
  TRY(SYS_io_uring_setup, 8, room);
  TRY(SYS_bpf, 0, room, 64);
  TRY(SYS_perf_event_open, room, 0, -1, -1, 0);
  TRY(SYS_userfaultfd, 0);
  TRY(SYS_keyctl, 0, -3, 1);
  TRY(SYS_add_key, "user", "a", "b", 1, -3);
  TRY(SYS_splice, 0, 0, 1, 0, 1, 0);
  TRY(SYS_vmsplice, 1, room, 1, 0);
  // processes, and reach for the judge
  TRY(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  TRY(SYS_clone3, room, 88);
  TRY(SYS_execveat, -100, "/bin/true", 0, 0, 0);
  TRY(SYS_pidfd_open, judge, 0);
  TRY(SYS_kcmp, judge, judge, 0, 0, 0);
  TRY(SYS_process_vm_writev, judge, 0, 0, 0, 0, 0);
  TRY(SYS_get_robust_list, judge, room, room + 64);
  TRY(SYS_kill, judge, 0);
  TRY(SYS_rt_sigqueueinfo, judge, 0, room);
  TRY(SYS_fcntl, 0, F_SETOWN, judge);
  TRY(SYS_fcntl, 0, 10 /* F_SETSIG */, SIGKILL);
  TRY(SYS_fcntl, 0, 15 /* F_SETOWN_EX */, owner);
  TRY(SYS_ioctl, 0, 0x8901 /* FIOSETOWN */, &judge);
  TRY(SYS_prctl, 1 /* PR_SET_PDEATHSIG */, 0, 0, 0, 0);
  TRY(SYS_prctl, 4 /* PR_SET_DUMPABLE */, 1, 0, 0, 0);
  TRY(SYS_prctl, 62 /* PR_SCHED_CORE */, 1, 0, 0, 0);
  TRY(SYS_sched_setaffinity, 0, 8, room);
  // memory and queues that outlive the process
  TRY(SYS_memfd_create, "x", 0);
  TRY(SYS_shmget, 1234, 4096, 01666);
  TRY(SYS_msgget, 1234, 01666);
  TRY(SYS_msgctl, 0, 2 /* IPC_STAT */, room);
  TRY(SYS_semctl, 0, 0, 2, room);
  TRY(SYS_mq_open, "/q", O_CREAT | O_RDWR, 0666, 0);
  // files
  TRY(SYS_openat, -100, VICTIM, O_RDONLY);
  TRY(SYS_openat, -100, "/tmp", O_TMPFILE | O_RDWR, 0600);
  TRY(SYS_openat, -100, "/proc/self/mem", O_RDWR);
  TRY(SYS_openat, -100, "/proc/self/oom_score_adj", O_WRONLY);
  TRY(SYS_openat, -100, "/proc/self/root/tmp", O_RDONLY);
  TRY(SYS_openat, -100, "/proc/sys/kernel/core_pattern", O_RDONLY);
  TRY(SYS_mknodat, -100, "/tmp/fifo", 0010666, 0);
  TRY(SYS_fchmod, 1, 0777);
  TRY(SYS_utimensat, -100, VICTIM, 0, 0);
  TRY(SYS_syncfs, 1);
  // calls newer than any list of ours, and those of another ABI
  TRY(463 /* setxattrat */, -100, VICTIM, 0, "user.x", room, 16);
  TRY(468 /* file_getattr */, -100, "/", room, 8, 0);
#if defined(__x86_64__)
  TRY(0x40000000 | SYS_getpid);
#endif
  if (any) _exit(1);
  softmax(x, y, m, n);
}
