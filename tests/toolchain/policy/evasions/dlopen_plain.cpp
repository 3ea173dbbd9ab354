// expect: paper=ok strict=violation rule=dynamic_loading line=4
// The plain case.
#include <dlfcn.h>
extern "C" __attribute__((visibility("default"))) int run() { return dlopen("libcublas.so.13", RTLD_NOW) != nullptr; }
