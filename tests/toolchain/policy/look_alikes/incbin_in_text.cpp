// expect: paper=ok strict=ok
// The word outside of assembly.
static int incbin(const char *text) { return text[0]; }
extern "C" __attribute__((visibility("default"))) int run() { return incbin(".incbin \"file\""); }
