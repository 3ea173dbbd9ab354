// expect: paper=ok strict=ok
// Other attributes.
struct __attribute__((aligned(128), packed)) Tile { char bytes[128]; };
[[maybe_unused]] static int section = 1;
extern "C" __attribute__((visibility("default"))) int run() { alignas(64) Tile tile{}; return tile.bytes[0]; }
