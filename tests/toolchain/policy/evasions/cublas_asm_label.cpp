// expect: paper=ok strict=violation rule=vendor_library line=3
// The name exists only in the label of another one.
extern "C" int make(void **handle) __asm__("cublas" "Create_v2");
extern "C" __attribute__((visibility("default"))) int run(void **handle) { return make(handle); }
