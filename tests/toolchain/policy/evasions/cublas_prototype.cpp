// expect: paper=ok strict=violation rule=vendor_library line=3
// No header: the function is declared by hand. The published rule only flags it.
extern "C" int cublasCreate_v2(void **handle);
extern "C" __attribute__((visibility("default"))) int run(void **handle) { return cublasCreate_v2(handle); }
