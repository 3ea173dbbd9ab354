// expect: paper=ok strict=ok
// A variable called section, beside an attribute.
struct Part { int section; };
extern "C" __attribute__((visibility("default"))) int run(int section) { Part part{section}; __attribute__((unused)) int asm_like = part.section; return asm_like; }
