// expect: paper=ok strict=ok
// The language lets a program replace its allocator.
#include <cstdlib>
#include <new>
void *operator new(std::size_t bytes) { if (void *p = std::malloc(bytes)) return p; throw std::bad_alloc(); }
void operator delete(void *p) noexcept { std::free(p); }
extern "C" __attribute__((visibility("default"))) int run() { int *x = new int(3); int y = *x; delete x; return y; }
