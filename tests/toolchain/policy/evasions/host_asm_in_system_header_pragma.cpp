// expect: paper=ok strict=violation rule=host_asm line=4
// The file declares itself a system header.
#pragma GCC system_header
extern "C" __attribute__((visibility("default"))) int run() { asm volatile("nop"); return 0; }
