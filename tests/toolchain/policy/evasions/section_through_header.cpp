// expect: paper=ok strict=violation rule=section_attribute line=4
// A macro that is expanded inside a system header carries the attribute.
#define carrier __attribute__((section(".text")))
#define quick_exit unused(); carrier extern const unsigned char code[]; extern "C" void quick_exit
#include <stdlib.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
