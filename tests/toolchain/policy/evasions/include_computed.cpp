// expect: paper=ok strict=violation rule=include_path line=5
// A name that only a preprocessor could work out.
#define TEXT(x) #x
#define SPELL(x) TEXT(x)
#include SPELL(/usr/include/stdlib.h)
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
