// expect: paper=ok strict=violation rule=driver_entry line=3
// The runtime's table of private functions.
extern "C" __attribute__((visibility("default"))) int run(const void **functions, const cudaUUID_t *id) { return cudaGetExportTable(functions, id); }
