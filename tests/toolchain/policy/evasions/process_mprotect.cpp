// expect: paper=ok strict=violation rule=process_control line=4
// Seen by the import, whatever the source looks like.
#include <sys/mman.h>
extern "C" __attribute__((visibility("default"))) int run() { return mprotect(nullptr, 4096, PROT_READ | PROT_EXEC); }
