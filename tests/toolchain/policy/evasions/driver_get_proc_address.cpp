// expect: paper=ok strict=violation rule=driver_entry line=3
// The driver's own look-up.
extern "C" int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, void *);
extern "C" __attribute__((visibility("default"))) int run(const char *name, void **function) { return cuGetProcAddress_v2(name, function, 12000, 0, nullptr); }
