// expect: paper=ok strict=violation rule=driver_entry
// The same in a label.
extern "C" cudaError_t look_up(const char *, void **, unsigned long long, void *) __asm__("__re" "al_cudaGetDriverEntryPoint");
extern "C" __attribute__((visibility("default"))) int run(const char *name, void **function) { return look_up(name, function, 0, nullptr); }
