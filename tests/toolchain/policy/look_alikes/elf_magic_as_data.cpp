// expect: paper=ok strict=ok
// The beginning of an ELF file, but not of a device image.
extern "C" const unsigned char table[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62, 0};
extern "C" __attribute__((visibility("default"))) int run(int i) { return table[i]; }
