// expect: paper=ok strict=ok
// Code that runs when the library is loaded: allowed, and part of loading.
#include <cstdio>
struct Once { Once() { std::puts("loaded"); } ~Once() { std::puts("gone"); } };
static Once once; static thread_local int calls = 0;
__attribute__((constructor)) static void start() { std::puts("start"); }
extern "C" __attribute__((visibility("default"))) int run() { return ++calls; }
