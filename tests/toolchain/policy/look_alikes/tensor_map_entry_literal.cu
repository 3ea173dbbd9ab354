// expect: paper=ok strict=ok
// The look-up of a tensor map function.
extern "C" __attribute__((visibility("default"))) int run(void **encode) {
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", encode, 12000, cudaEnableDefault, &found);
}
