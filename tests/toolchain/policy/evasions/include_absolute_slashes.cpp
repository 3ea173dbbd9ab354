// expect: paper=ok strict=violation rule=include_path line=3
// A name that looks like a comment.
#include <//usr/include/stdlib.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
