// expect: paper=ok strict=violation rule=section_attribute line=3
// Machine code as data, in the section of code.
__attribute__((section(".text"))) const unsigned char code[] = {0xb8, 0x2a, 0, 0, 0, 0xc3};
extern "C" __attribute__((visibility("default"))) int run() { return reinterpret_cast<int (*)()>(reinterpret_cast<unsigned long>(code))(); }
