// expect: paper=ok strict=violation rule=forged_lines line=3
// With a digraph.
%:line 1 "/usr/include/stdio.h"
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
