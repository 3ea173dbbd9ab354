// expect: paper=ok strict=violation rule=host_asm line=3
// A label that renames an import, even to an allowed one.
extern "C" int value __asm__("stdout");
extern "C" __attribute__((visibility("default"))) int run() { return value; }
