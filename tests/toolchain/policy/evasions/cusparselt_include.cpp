// expect: paper=ok strict=violation rule=vendor_library line=3
// Another of the vendor's matrix libraries.
#include <cusparseLt.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
