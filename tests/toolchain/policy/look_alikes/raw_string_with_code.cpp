// expect: paper=ok strict=ok
// Code in a raw string.
const char *volatile text = R"code(
#include <cublas_v2.h>
asm volatile("nop"); __attribute__((section(".text")))
)code";
extern "C" __attribute__((visibility("default"))) int run(int i) { return text[i]; }
