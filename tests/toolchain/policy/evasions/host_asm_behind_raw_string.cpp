// expect: paper=ok strict=violation rule=host_asm line=6
// A raw string that looks like a line marker: what follows is not a system header.
const char *volatile text = R"(
# 1 "/usr/include/stdio.h" 1 3
)";
extern "C" __attribute__((visibility("default"))) int run() { asm volatile("nop"); return text[0]; }
