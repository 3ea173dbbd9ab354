// expect: paper=ok strict=violation rule=incbin line=3
// The assembler takes a file in.
__asm__(".incbin \"/etc/hostname\"");
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
