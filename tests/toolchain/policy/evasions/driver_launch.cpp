// expect: paper=ok strict=violation rule=driver_entry line=3
// A driver function that is on no list.
extern "C" int cuCtxCreate_v2(void **, unsigned int, int);
extern "C" __attribute__((visibility("default"))) int run(void **context) { return cuCtxCreate_v2(context, 0, 0); }
