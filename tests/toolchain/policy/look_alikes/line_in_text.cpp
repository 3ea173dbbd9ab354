// expect: paper=ok strict=ok
// Line directives in a comment and in raw strings.
#include <cstdio>
// #line 7 "x"
const char *volatile text = R"(
#line 7 "x.cu"
# 1 "/usr/include/stdio.h" 1 3
)";
extern "C" __attribute__((visibility("default"))) int run() { return std::printf("%s #line\n", text); }
