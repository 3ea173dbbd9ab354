// expect: paper=ok strict=violation rule=host_asm line=3
// A raw system call needs no import.
extern "C" __attribute__((visibility("default"))) int run() { long result; asm volatile("syscall" : "=a"(result) : "a"(57) : "rcx", "r11", "memory"); return (int)result; }
