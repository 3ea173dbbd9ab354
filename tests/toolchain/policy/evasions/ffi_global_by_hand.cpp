// expect: paper=ok strict=violation rule=ffi_registry line=3
// A global function of the process that loads the candidate.
extern "C" int TVMFFIFunctionGetGlobal(const void *name, void **out);
extern "C" __attribute__((visibility("default"))) int run(const void *name, void **out) { return TVMFFIFunctionGetGlobal(name, out); }
