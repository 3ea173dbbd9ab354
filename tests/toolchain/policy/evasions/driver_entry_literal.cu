// expect: paper=ok strict=violation rule=driver_entry line=5
// The name is there to be read.
extern "C" __attribute__((visibility("default"))) int run(void **function) {
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion("cuModule" "LoadData", function, 12000, cudaEnableDefault, &found);
}
