// expect: paper=ok strict=ok
// Members with names of the loader's functions.
struct Door { int dlopen(int x) const; int dlsym; };
int Door::dlopen(int x) const { return x + dlsym; }
extern "C" __attribute__((visibility("default"))) int run(int x) { Door door{x}; return door.dlopen(x) + door.dlsym; }
