// expect: error front @ 4 - identifier "a0" is undefined
#define TEN(x) x##0; x##1; x##2; x##3; x##4; x##5; x##6; x##7; x##8; x##9;
__global__ void kernel(float* out) {
  TEN(a) TEN(b) TEN(c) TEN(d) TEN(e) TEN(f) TEN(g) TEN(h) TEN(i) TEN(j) TEN(k) TEN(l)
}
