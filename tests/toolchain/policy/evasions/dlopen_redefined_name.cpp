// expect: paper=ok strict=violation rule=dynamic_loading
// A pragma renames the import.
#pragma redefine_extname harmless dlopen
extern "C" void *harmless(const char *, int);
extern "C" __attribute__((visibility("default"))) int run() { return harmless("x", 2) != nullptr; }
