// expect: paper=ok strict=violation rule=runtime_compilation line=3
// The same where the function is linked.
static void **mine(void *) __attribute__((weakref("__cudaRegisterFatBinary")));
extern "C" __attribute__((visibility("default"))) int run(void *image) { return mine(image) != nullptr; }
