// expect: paper=ok strict=violation rule=runtime_compilation line=3
// The registration function under another name, which only a string says.
static void **mine(void *) __attribute__((weakref("__cuda" "RegisterFatBinary")));
extern "C" __attribute__((visibility("default"))) int run(void *image) { return mine && mine(image) != nullptr; }
