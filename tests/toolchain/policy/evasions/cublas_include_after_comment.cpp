// expect: paper=violation strict=violation rule=vendor_library
// Comments around and inside the directive.
/* nothing */ # /* still
nothing */ include /* here */ <cublasLt.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
