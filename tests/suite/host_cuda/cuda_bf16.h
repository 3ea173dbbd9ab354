// bfloat16 on the host, as far as the plain kernels use it.
#pragma once

#include <cstdint>
#include <cstring>

struct __nv_bfloat16 {
  uint16_t bits;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

// To nearest, ties to even. The kernels round no NaN.
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof(word));
  word += 0x7fff + (word >> 16 & 1);
  return {static_cast<uint16_t>(word >> 16)};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)}; }
