// expect: paper=ok strict=violation rule=forged_lines line=5
// Behind a raw string that looks like an open comment.
const char *text = R"x(
)" /* )x";
#line 1 "/usr/include/stdio.h"
/**/extern "C" __attribute__((visibility("default"))) int run() { return 0; }
