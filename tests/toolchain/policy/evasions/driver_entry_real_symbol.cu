// expect: paper=ok strict=violation rule=driver_entry line=3
// Calls past the guarded look-up, by the linker's name of the real one.
extern "C" cudaError_t __real_cudaGetDriverEntryPoint(const char *, void **, unsigned long long, cudaDriverEntryPointQueryResult *);
extern "C" __attribute__((visibility("default"))) int run(const char *name, void **function) { return __real_cudaGetDriverEntryPoint(name, function, 0, nullptr); }
