// expect: paper=ok strict=violation rule=dynamic_loading
// Name of the function and of the library in pieces.
#define GLUE(a, b) a##b
extern "C" void *GLUE(dl, open)(const char *, int);
extern "C" __attribute__((visibility("default"))) int run() { char name[] = "libcub" "las.so.13"; return GLUE(dl, open)(name, 2) != nullptr; }
