// expect: error front @ 3 1 static assertion failed with "tile must fit"
constexpr int kTile = 512;
static_assert(kTile <= 256, "tile must fit");
__global__ void kernel(float* out) { out[0] = kTile; }
