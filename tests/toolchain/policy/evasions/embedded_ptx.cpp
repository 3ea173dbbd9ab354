// expect: paper=ok strict=violation rule=runtime_compilation
// PTX text carried as data: it can only be meant for a compiler at run time.
const char *volatile text = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }";
extern "C" __attribute__((visibility("default"))) int run(int i) { return text[i]; }
