// expect: paper=ok strict=violation rule=vendor_library
// The function is never called by name.
extern "C" int cublasLtMatmul(...);
using Multiply = int (*)(...);
extern "C" __attribute__((visibility("default"))) int run() { Multiply volatile multiply = cublasLtMatmul; return multiply(0, 1, 2); }
