// expect: paper=ok strict=violation rule=python_embedding line=3
// The interpreter that runs the judge, called by a hand-written prototype.
extern "C" int PyRun_SimpleString(const char *);
extern "C" __attribute__((visibility("default"))) int run() { return PyRun_SimpleString("import torch"); }
