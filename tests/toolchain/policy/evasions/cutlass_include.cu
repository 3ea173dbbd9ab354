// expect: paper=ok strict=violation rule=cutlass line=3
// The header is not installed, so nothing is preprocessed: the include is read as written.
#include <cutlass/gemm/device/gemm_universal.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
