// expect: paper=ok strict=violation rule=forged_lines line=3
// White space that is no blank.
#line 1 "/usr/include/stdio.h"
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
