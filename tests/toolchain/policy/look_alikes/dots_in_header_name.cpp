// expect: paper=ok strict=ok
// Two dots that do not lead upwards.
#include "parts/tile..64.h"
extern "C" __attribute__((visibility("default"))) int run() { return kTile; }
