// expect: paper=ok strict=violation rule=dynamic_loading
// An attribute renames the import.
static void *harmless(const char *, int) __attribute__((weakref("dlopen")));
extern "C" __attribute__((visibility("default"))) int run() { return harmless != nullptr && harmless("x", 2) != nullptr; }
