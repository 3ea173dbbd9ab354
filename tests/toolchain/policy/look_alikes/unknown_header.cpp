// expect: paper=ok strict=ok
// A header that is nowhere: a compile error, not a breach.
#include <my_project/tiles.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
