// expect: paper=ok strict=violation rule=dynamic_loading line=4
// Walks the loader's own list of libraries.
#include <link.h>
extern "C" __attribute__((visibility("default"))) int run() { return _r_debug.r_map != nullptr; }
