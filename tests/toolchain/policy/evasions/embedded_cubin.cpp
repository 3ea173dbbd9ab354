// expect: paper=ok strict=violation rule=runtime_compilation
// A cubin carried as data.
extern "C" const unsigned char image[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 190, 0};
extern "C" __attribute__((visibility("default"))) int run(int i) { return image[i]; }
