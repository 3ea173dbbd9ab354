// expect: paper=ok strict=violation rule=symbol_override line=3
// Puts itself in the place of a measuring function.
extern "C" __attribute__((visibility("default"))) int cuptiGetTimestamp(unsigned long *time) { *time = 1; return 0; }
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
