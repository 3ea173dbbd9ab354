// expect: paper=ok strict=violation rule=dynamic_loading line=3
// Symbols of whatever is loaded already.
extern "C" void *dlsym(void *, const char *);
extern "C" __attribute__((visibility("default"))) int run(const char *name) { return dlsym(nullptr, name) != nullptr; }
