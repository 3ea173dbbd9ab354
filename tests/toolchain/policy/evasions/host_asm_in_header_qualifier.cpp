// expect: paper=ok strict=violation rule=host_asm line=3
// A header's own assembly is given other instructions; no word of the macro says so.
#define __volatile__ volatile("syscall"); SWALLOW
#define SWALLOW(...)
#include <cpuid.h>
extern "C" __attribute__((visibility("default"))) unsigned run() { unsigned a = 0, b = 0, c = 0, d = 0; __get_cpuid(1, &a, &b, &c, &d); return a; }
