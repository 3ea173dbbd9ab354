// expect: paper=ok strict=violation rule=section_attribute line=3
// The standard spelling.
[[gnu::section(".text")]] const unsigned char code[] = {0xc3};
extern "C" __attribute__((visibility("default"))) int run() { return code[0]; }
