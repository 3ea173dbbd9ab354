// expect: paper=ok strict=ok
// Clocks, mathematics, C strings.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern "C" __attribute__((visibility("default"))) int run(float x, const char *text) {
    auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    char buffer[64]; std::snprintf(buffer, sizeof buffer, "%f", std::erf(x) + std::tgamma(x) + std::lround(x) + std::fma(x, x, x));
    std::qsort(buffer, 4, 1, [](const void *a, const void *b) { return std::memcmp(a, b, 1); });
    return (int)now + std::atoi(buffer) + (int)std::strtol(text, nullptr, 10) + (std::getenv("HOME") != nullptr);
}
