// expect: paper=ok strict=violation rule=runtime_compilation line=3
// What the compiler's stub does, done by hand with another image.
extern "C" void **__cudaRegisterFatBinary(void *);
extern "C" void __cudaRegisterFatBinaryEnd(void **);
extern "C" __attribute__((visibility("default"))) int run(void *image) {
    struct { int magic, version; void *data, *unused; } wrapper{0x466243b1, 1, image, nullptr};
    __cudaRegisterFatBinaryEnd(__cudaRegisterFatBinary(&wrapper));
    return 0;
}
