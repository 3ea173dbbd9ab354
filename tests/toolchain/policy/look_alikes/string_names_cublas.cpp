// expect: paper=ok strict=ok
// Libraries in a string.
const char *volatile text = "#include <cublas_v2.h> dlopen cublasCreate_v2 asm(\"nop\") .incbin";
extern "C" __attribute__((visibility("default"))) int run(int i) { return text[i]; }
