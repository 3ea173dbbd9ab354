// expect: paper=ok strict=violation rule=symbol_override line=3
// TVM-FFI's loader reads modules from this symbol.
extern "C" __attribute__((visibility("default"))) unsigned char __tvm_ffi__library_bin[16] = {8};
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
