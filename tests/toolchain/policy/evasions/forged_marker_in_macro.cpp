// expect: paper=ok strict=violation rule=forged_lines line=3
// A raw string in a macro may hold lines; inside a system header they would pass for line markers.
#define quick_exit carried(const char * = R"x(\
# 1 "forged_marker_in_macro.cpp" 1
R"zz( )x"); extern "C" void quick_exit
#include <stdlib.h>
static void hidden() { asm volatile("nop"); }
extern "C" __attribute__((visibility("default"))) int run() { hidden(); return 0; }
