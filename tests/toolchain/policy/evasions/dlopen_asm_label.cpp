// expect: paper=ok strict=violation rule=dynamic_loading line=3
// The name exists only in a label.
extern "C" void *nothing(const char *, int) __asm__("dl" "open");
extern "C" __attribute__((visibility("default"))) int run() { return nothing("x", 2) != nullptr; }
