// expect: paper=ok strict=violation rule=incbin
// The word in pieces, one of them escaped.
#define START ".inc"
__asm__(START "b\x69n \"/etc/hostname\"");
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
