// expect: paper=ok strict=violation rule=include_path line=3
// Up and out of the include path.
#include <linux/../stdlib.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
