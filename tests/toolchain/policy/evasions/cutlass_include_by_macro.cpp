// expect: paper=ok strict=violation rule=cutlass line=4
// The same through a macro.
#define HEADER <cute/atom/mma_traits.hpp>
#include HEADER
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
