// expect: paper=ok strict=ok
// Variables with names of namespaces.
extern "C" __attribute__((visibility("default"))) int run(int torch, int cute) { int c10 = torch * cute, at = 1; struct { int cutlass; } s{c10}; return s.cutlass + at; }
