// expect: paper=ok strict=ok
// Macros before includes: names of operands, parts of words, attributes.
#define N 64
#define volatile_load(p) (*(volatile int *)(p))
#define likely(x) __builtin_expect(!!(x), 1)
#define LDMATRIX(r, a) asm volatile("ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(a))
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(unsigned *y) { unsigned r; LDMATRIX(r, 0); if (likely(y[0])) y[N] = r + volatile_load(y); }
extern "C" __attribute__((visibility("default"))) void run(unsigned *y) { k<<<1, 32>>>(y); }
