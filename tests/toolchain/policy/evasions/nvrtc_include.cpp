// expect: paper=ok strict=violation rule=runtime_compilation line=3
// Run-time compilation.
#include <nvrtc.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
