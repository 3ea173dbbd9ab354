// expect: paper=ok strict=violation rule=host_asm line=4
// A macro that is expanded inside a system header.
#define carrier asm volatile("nop");
#define quick_exit unused(); static inline void inside() { carrier } extern "C" void quick_exit
#include <stdlib.h>
extern "C" __attribute__((visibility("default"))) int run() { inside(); return 0; }
