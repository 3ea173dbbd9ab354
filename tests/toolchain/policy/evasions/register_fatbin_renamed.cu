// expect: paper=ok strict=violation rule=runtime_compilation line=3
// A pragma renames the import.
#pragma redefine_extname mine __cudaRegisterFatBinary
extern "C" void **mine(void *);
extern "C" __attribute__((visibility("default"))) int run(void *image) { return mine(image) != nullptr; }
