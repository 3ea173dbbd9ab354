// expect: paper=ok strict=violation rule=forged_lines line=4
// What it is for: code that looks like a system header's.
#define NAME "/usr/include/stdio.h"
#line 1 NAME
static void hidden() { asm volatile("nop"); }
extern "C" __attribute__((visibility("default"))) int run() { hidden(); return 0; }
