// expect: paper=ok strict=violation rule=forged_lines line=5
// What looks like a raw string is a suffix called R and an ordinary string; the line directive is real.
constexpr const char *operator""R(const char *s, decltype(sizeof 1)) { return s; }
const char *first = ""R"x(";
#line 1 "/usr/include/x.h"
static int evil() { asm volatile("syscall"); return 1; }
extern "C" __attribute__((visibility("default"))) int run() { return evil(); }
const char *last = ")x";
