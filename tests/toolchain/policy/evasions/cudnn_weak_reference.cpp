// expect: paper=ok strict=violation rule=vendor_library
// A weak import: works only where the library happens to be loaded.
extern "C" int cudnnCreate(void **) __attribute__((weak));
extern "C" __attribute__((visibility("default"))) int run(void **handle) { return cudnnCreate ? cudnnCreate(handle) : 1; }
