// expect: paper=ok strict=violation rule=forged_lines line=3
// With a line splice, and one after a raw string.
#li\
ne 1 "/usr/include/stdio.h"
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
