// expect: paper=ok strict=ok
// Libraries in comments.
// Faster than cublasSgemm; does not #include <cublas_v2.h>, nor dlopen("libcublas.so").
/* #include <cudnn.h> */
extern "C" __attribute__((visibility("default"))) int run() { return 0; } // asm("nop")
