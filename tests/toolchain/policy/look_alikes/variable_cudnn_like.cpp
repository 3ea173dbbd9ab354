// expect: paper=ok strict=ok
// Names that resemble a library's.
static int cudnn_like(int cublas_version) { int cublasTime = cublas_version, cudnn = 2; return cublasTime + cudnn; }
extern "C" __attribute__((visibility("default"))) int run(int x) { return cudnn_like(x); }
