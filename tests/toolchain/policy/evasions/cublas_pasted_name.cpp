// expect: paper=ok strict=violation rule=vendor_library
// The name exists only after token pasting.
#define JOIN(a, b) a##b
extern "C" int JOIN(cubl, asCreate_v2)(void **handle);
extern "C" __attribute__((visibility("default"))) int run(void **handle) { return JOIN(cubl, asCreate_v2)(handle); }
