// expect: paper=ok strict=violation rule=forged_lines line=3
// The preprocessor's own spelling.
# 1 "/usr/include/stdio.h" 1 3
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
