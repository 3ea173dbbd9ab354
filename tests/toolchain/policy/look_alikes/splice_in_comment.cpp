// expect: paper=ok strict=ok
// A comment that goes on over the line's end hides a directive from the compiler too. \
#line 1 "x.cpp"
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
