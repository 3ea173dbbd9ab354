// expect: paper=ok strict=violation rule=runtime_compilation line=3
// The driver's module loading, declared by hand.
extern "C" int cuModuleLoadData(void **module, const void *image);
extern "C" __attribute__((visibility("default"))) int run(void **module, const void *image) { return cuModuleLoadData(module, image); }
