// expect: paper=ok strict=ok
// Containers, exceptions and v.at(0), which is not at::.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>
extern "C" __attribute__((visibility("default"))) int run(int n) {
    std::vector<int> v(n); std::mt19937 random(1); for (auto &x : v) x = random() % 100; std::sort(v.begin(), v.end());
    std::map<std::string, int> m{{"a", 1}}; std::unordered_map<std::string, int> u{{"b", 2}}; auto p = std::make_shared<int>(3);
    std::function<int(int)> f = [p](int x) { return x + *p; };
    try { return f(v.at(n) + m.at("a") + u.at("c")); } catch (const std::out_of_range &error) { return error.what()[0]; }
}
