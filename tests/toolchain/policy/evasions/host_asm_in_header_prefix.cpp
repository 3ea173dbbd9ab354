// expect: paper=ok strict=violation rule=host_asm line=4
// The prefix of the labels that a header writes.
#undef _GNU_SOURCE
#define __USER_LABEL_PREFIX__ dl
#include <stdio.h>
extern "C" __attribute__((visibility("default"))) int run() { int x = 0; return sscanf("1", "%d", &x); }
