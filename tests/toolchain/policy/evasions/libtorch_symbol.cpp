// expect: paper=ok strict=violation rule=libtorch
// A function of libtorch declared by hand.
namespace at {
struct Tensor;
void matmul(Tensor *, const Tensor *, const Tensor *);
}
extern "C" __attribute__((visibility("default"))) int run(at::Tensor *c, at::Tensor *a) { at::matmul(c, a, a); return 0; }
