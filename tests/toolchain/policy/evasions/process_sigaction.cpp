// expect: paper=ok strict=violation rule=process_control line=4
// Seen by the import, whatever the source looks like.
#include <signal.h>
extern "C" __attribute__((visibility("default"))) int run() { return sigaction(SIGSEGV, nullptr, nullptr); }
