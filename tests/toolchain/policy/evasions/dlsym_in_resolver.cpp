// expect: paper=ok strict=violation rule=dynamic_loading line=3
// The loader itself calls the look-up, while it resolves another function.
extern "C" void *dlsym(void *, const char *);
static void *resolve() { return dlsym(nullptr, "cublasCreate_v2"); }
extern "C" __attribute__((ifunc("_ZL7resolvev"))) void made();
extern "C" __attribute__((visibility("default"))) int run() { made(); return 0; }
