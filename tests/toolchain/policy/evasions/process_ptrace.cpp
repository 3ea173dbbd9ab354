// expect: paper=ok strict=violation rule=process_control line=4
// Seen by the import, whatever the source looks like.
#include <sys/ptrace.h>
extern "C" __attribute__((visibility("default"))) int run() { return (int)ptrace(PTRACE_TRACEME, 0, 0, 0); }
