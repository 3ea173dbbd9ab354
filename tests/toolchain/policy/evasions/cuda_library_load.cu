// expect: paper=ok strict=violation rule=runtime_compilation line=5
// The runtime's own module loading.
extern "C" __attribute__((visibility("default"))) int run(const void *image) {
    cudaLibrary_t library;
    return cudaLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
