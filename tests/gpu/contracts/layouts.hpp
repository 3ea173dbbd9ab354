// The header's layouts by run-time values: what OperandTile makes of a swizzle, a major and an extent.
#pragma once

#include <utility>

#include "ptxk/model/layout.hpp"
#include "ptxk/sm90/descriptor.cuh"

namespace contracts {

constexpr ptxk::Swizzle kSwizzles[] = {ptxk::Swizzle::none, ptxk::Swizzle::b32, ptxk::Swizzle::b64, ptxk::Swizzle::b128};

inline const char* name_of(ptxk::Swizzle swizzle) {
  return swizzle == ptxk::Swizzle::none ? "no swizzle" : swizzle == ptxk::Swizzle::b32 ? "32B" : swizzle == ptxk::Swizzle::b64 ? "64B" : "128B";
}
inline const char* name_of(ptxk::Major major) { return major == ptxk::Major::k ? "K-major" : "MN-major"; }
inline ptxk::model::Major model_of(ptxk::Major major) { return static_cast<ptxk::model::Major>(major); }
inline ptxk::model::Swizzle model_of(ptxk::Swizzle swizzle) { return static_cast<ptxk::model::Swizzle>(swizzle); }

constexpr int kDepth = 64;  // K of the tiles
constexpr int kSteps = 4;   // instructions along it, of 16-bit inputs

struct Layout {
  uint32_t leading, stride, box_bytes, tile_bytes;
  uint32_t step[kSteps];  // bytes from the tile's start
};

// Of a tile wide enough for `kExtent`: along M or N a tile has whole boxes, and an instruction may use less of it.
template <ptxk::Swizzle kSwizzle, ptxk::Major kMajor, int kExtent>
constexpr Layout layout() {
  constexpr int kBox = ptxk::swizzle_span(kSwizzle) / 2;
  constexpr int kWhole = kMajor == ptxk::Major::k ? kExtent : (kExtent + kBox - 1) / kBox * kBox;
  using Tile = ptxk::OperandTile<kSwizzle, kMajor, kWhole, kDepth>;
  return {Tile::kLeading, Tile::kStride, Tile::kBoxBytes, Tile::kTileBytes,
          {Tile::k_offset(0), Tile::k_offset(1), Tile::k_offset(2), Tile::k_offset(3)}};
}

template <ptxk::Swizzle kSwizzle, ptxk::Major kMajor, int... kEights>
Layout pick(int extent, std::integer_sequence<int, kEights...>) {
  Layout found{};
  ((extent == 8 * (kEights + 1) ? void(found = layout<kSwizzle, kMajor, 8 * (kEights + 1)>()) : void()), ...);
  return found;
}

// The layout of a tile of 16-bit elements, `extent` a multiple of 8 up to 256.
template <ptxk::Major kMajor>
Layout layout_of(ptxk::Swizzle swizzle, int extent) {
  constexpr auto kAll = std::make_integer_sequence<int, 32>();
  switch (swizzle) {
    case ptxk::Swizzle::none:
      return pick<ptxk::Swizzle::none, kMajor>(extent, kAll);
    case ptxk::Swizzle::b32:
      return pick<ptxk::Swizzle::b32, kMajor>(extent, kAll);
    case ptxk::Swizzle::b64:
      return pick<ptxk::Swizzle::b64, kMajor>(extent, kAll);
    default:
      return pick<ptxk::Swizzle::b128, kMajor>(extent, kAll);
  }
}

// Where TMA, box after box, puts element (mn, k) of a tile of 16-bit elements: said without descriptors.
inline uint32_t boxed_byte(ptxk::Swizzle swizzle, ptxk::Major major, uint32_t box_bytes, uint32_t mn, uint32_t k) {
  const uint32_t span = ptxk::swizzle_span(swizzle);
  const uint32_t along = 2 * (major == ptxk::Major::k ? k : mn);
  const uint32_t row = major == ptxk::Major::k ? mn : k;
  return along / span * box_bytes + ptxk::model::box_byte(model_of(swizzle), span, row, along % span);
}

}  // namespace contracts
