// expect: paper=ok strict=violation rule=dynamic_loading line=3
// The loader's list of libraries stands in the second entry.
extern "C" void *_GLOBAL_OFFSET_TABLE_[];
extern "C" __attribute__((visibility("default"))) void *run() { return _GLOBAL_OFFSET_TABLE_[1]; }
