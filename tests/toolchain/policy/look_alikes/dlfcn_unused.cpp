// expect: paper=ok strict=ok
// Headers of things it does not use.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
