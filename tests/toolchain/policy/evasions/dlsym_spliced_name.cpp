// expect: paper=ok strict=violation rule=dynamic_loading
// A line splice inside the name.
extern "C" void *dlvs\
ym(void *, const char *, const char *);
extern "C" __attribute__((visibility("default"))) int run(const char *name) { return dlvs\
ym(nullptr, name, name) != nullptr; }
