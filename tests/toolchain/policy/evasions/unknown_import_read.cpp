// expect: paper=ok strict=violation rule=unknown_import line=4
// Reads a descriptor that is not its own.
#include <unistd.h>
extern "C" __attribute__((visibility("default"))) int run(void *buffer) { return (int)read(3, buffer, 64); }
