// expect: paper=ok strict=violation rule=host_asm line=3
// In a lambda of host code.
extern "C" __attribute__((visibility("default"))) int run() { auto stop = [](int x) { asm volatile("nop"); return x; }; return stop(3); }
