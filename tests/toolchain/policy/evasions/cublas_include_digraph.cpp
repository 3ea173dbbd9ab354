// expect: paper=violation strict=violation rule=vendor_library line=3
// A digraph in place of the number sign.
%:include <cublas_v2.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
