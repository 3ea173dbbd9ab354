// expect: paper=ok strict=ok
// Number signs that begin no directive.
#define TEXT(x) #x
#define JOIN(a, b) a##b
extern "C" __attribute__((visibility("default"))) int run() { return JOIN(1, 2) + TEXT(asm)[0]; }
