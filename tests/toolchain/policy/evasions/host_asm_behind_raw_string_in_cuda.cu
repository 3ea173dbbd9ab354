// expect: paper=ok strict=violation rule=host_asm line=7
// The same, and one that looks like code that was left out.
const char *volatile text = R"(
#if 0
# 1 "/usr/include/stdio.h" 1 3
)";
extern "C" __attribute__((visibility("default"))) int run() { asm volatile("nop"); return text[0]; }
