// expect: paper=ok strict=violation rule=section_attribute
// Pasted from pieces.
#define PLACE(kind, name) __attribute__((kind##ion(name)))
PLACE(sect, ".init_array") void (*start)() = nullptr;
extern "C" __attribute__((visibility("default"))) int run() { return start == nullptr; }
