// expect: paper=violation strict=violation rule=vendor_library line=3
// cuDNN, the plain case.
#include <cudnn.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
