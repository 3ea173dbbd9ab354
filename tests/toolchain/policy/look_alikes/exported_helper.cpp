// expect: paper=ok strict=ok
// Exports of its own.
extern "C" __attribute__((visibility("default"))) int cudnn_like_helper(int x) { return x; }
extern "C" __attribute__((visibility("default"))) int current(int x) { return x; }
extern "C" __attribute__((visibility("default"))) int run(int x) { return cudnn_like_helper(x) + current(x); }
