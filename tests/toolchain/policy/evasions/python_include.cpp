// expect: paper=ok strict=violation rule=python_embedding line=3
// The interpreter's header.
#include <Python.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
