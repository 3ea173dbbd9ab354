// expect: paper=ok strict=ok
// Names that resemble the stub's.
static int cudaRegisterLike(int x) { return x; }
static int register_fatbin(int fatbinary) { return cudaRegisterLike(fatbinary); }
extern "C" __attribute__((visibility("default"))) int run(int x) { return register_fatbin(x); }
