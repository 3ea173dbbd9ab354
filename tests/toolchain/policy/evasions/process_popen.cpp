// expect: paper=ok strict=violation rule=process_control line=4
// Seen by the import, whatever the source looks like.
#include <cstdio>
extern "C" __attribute__((visibility("default"))) int run() { return popen("true", "r") != nullptr; }
