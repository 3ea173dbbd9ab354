// expect: paper=ok strict=violation rule=unreadable_source line=4
// Where a macro is called R, the raw string is one: the file opens no comment, and includes.
#define R
const char *first = ""R"x(
/*
)x";
#include "/etc/hostname"
extern "C" __attribute__((visibility("default"))) int run() { return 1; }
