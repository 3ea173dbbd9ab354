// expect: paper=violation strict=violation rule=vendor_library
// Line splices inside the directive and the name.
#in\
clude <cubl\
as_v2.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
