// expect: paper=ok strict=ok
// Streams.
#include <fstream>
#include <iostream>
#include <sstream>
extern "C" __attribute__((visibility("default"))) int run() { std::ostringstream text; text << 1.5; std::cout << text.str() << std::endl; std::ifstream in("x"); return in.good(); }
