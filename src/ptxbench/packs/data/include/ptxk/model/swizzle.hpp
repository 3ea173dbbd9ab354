// Where TMA and wgmma put a byte of shared memory (PTX ISA, "Swizzling Modes"). Host only; addresses are bytes.
#pragma once

#include <cstdint>

namespace ptxk::model {

enum class Swizzle : uint32_t { none = 0, b128 = 1, b64 = 2, b32 = 3 };  // as in bits 62-63 of a descriptor

// Width of the rows that a swizzle works on, in bytes; without one, a row of a core matrix.
constexpr uint32_t span(Swizzle swizzle) {
  return swizzle == Swizzle::b128 ? 128 : swizzle == Swizzle::b64 ? 64 : swizzle == Swizzle::b32 ? 32 : 16;
}

// The address at which the byte of an unswizzled address lies: the number of the 128-byte line flips that of the 16-byte chunk.
constexpr uint32_t swizzled(Swizzle swizzle, uint32_t address) {
  const uint32_t chunks = swizzle == Swizzle::none ? 1 : span(swizzle) / 16;
  const uint32_t line = address / 128;
  return address ^ (line % chunks) * 16;
}

// How far apart the rows of a box of TMA lie that is `width` bytes across: its width, yet never less than the swizzle's span
// (measured on an H200: the rows of a narrower box have gaps between them).
constexpr uint32_t box_pitch(Swizzle swizzle, uint32_t width) { return width < span(swizzle) ? span(swizzle) : width; }

// Byte `column` of row `row` of a box that is `width` bytes across, counted from the box's start.
constexpr uint32_t box_byte(Swizzle swizzle, uint32_t width, uint32_t row, uint32_t column) {
  return swizzled(swizzle, row * box_pitch(swizzle, width) + column);
}

}  // namespace ptxk::model
