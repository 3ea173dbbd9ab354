// expect: paper=ok strict=violation rule=include_path line=5
// Through two macros.
#define FIRST SECOND
#define SECOND "/usr/include/stdlib.h"
#include FIRST
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
