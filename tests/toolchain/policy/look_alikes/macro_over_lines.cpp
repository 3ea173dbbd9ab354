// expect: paper=ok strict=ok
// A macro over several lines with a raw string on one of them.
#define TEXT(x)     \
    R"(# 1 "x.h")"  \
    #x
const char *volatile text = TEXT(1);
extern "C" __attribute__((visibility("default"))) int run(int i) { return text[i]; }
