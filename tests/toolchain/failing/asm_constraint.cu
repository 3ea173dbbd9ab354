// expect: error front @ 4 44 an asm operand must have scalar type
struct Pair { float a, b; };
__global__ void kernel(Pair* out) {
  asm volatile("mov.f32 %0, 0f00000000;" : "=f"(out[0]));
}
