// expect: paper=ok strict=violation rule=libtorch line=3
// libtorch.
#include <torch/extension.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
