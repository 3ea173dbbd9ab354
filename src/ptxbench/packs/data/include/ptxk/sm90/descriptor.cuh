// Matrix descriptors of wgmma operands in shared memory (PTX ISA, "Matrix Descriptor Format", "Strides", "Swizzling Modes").
//
// An operand is kExtent (M or N) x kDepth (K), laid down by TMA box after box, each `span` bytes wide and swizzled:
//   Major::k   boxes of span bytes of K and kExtent rows.   SBO = 8 * span. LBO: kExtent * 16 without swizzle, else not used.
//   Major::mn  boxes of span bytes of M or N and kDepth rows. LBO = kDepth * span and SBO = 8 * span; without swizzle the other
//              way round: LBO = 128 (the next 8 of K), SBO = kDepth * 16 (the next 8 of M or N). 16-bit inputs only.
#pragma once

#include "../common/address.cuh"

namespace ptxk {

// The values are the descriptor's bits 62-63. Chunks of 16 bytes: bits 4-6 of the address ^= bits 7-9 (64B: 4-5, 7-8; 32B: 4, 7).
enum class Swizzle : uint32_t { none = 0, b128 = 1, b64 = 2, b32 = 3 };

// Along which dimension elements lie side by side.
enum class Major : uint32_t { k = 0, mn = 1 };

// Width of a box in bytes.
__host__ __device__ constexpr uint32_t swizzle_span(Swizzle swizzle) {
  return swizzle == Swizzle::b128 ? 128 : swizzle == Swizzle::b64 ? 64 : swizzle == Swizzle::b32 ? 32 : 16;
}

// Bytes after which the pattern repeats: a tile starts on a multiple of this (TMA itself wants 128).
__host__ __device__ constexpr uint32_t swizzle_alignment(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 128 : 8 * swizzle_span(swizzle);
}

// All in bytes; the fields hold units of 16. The base offset is 0: the tile starts where the pattern does.
__host__ __device__ constexpr uint64_t encode_descriptor(uint32_t address, uint32_t leading, uint32_t stride, Swizzle swizzle) {
  return static_cast<uint64_t>((address & 0x3FFFF) >> 4) | static_cast<uint64_t>((leading & 0x3FFFF) >> 4) << 16 |
         static_cast<uint64_t>((stride & 0x3FFFF) >> 4) << 32 | static_cast<uint64_t>(swizzle) << 62;
}

// What a tile's layout makes of its sizes. kBytes: of an element.
template <Swizzle kSwizzle, Major kMajor, int kExtent, int kDepth, int kBytes = 2>
struct OperandTile {
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4, "elements of 8, 16 or 32 bits");
  static_assert(kMajor == Major::k || kBytes == 2, "only 16-bit inputs may lie along M or N");
  static_assert(kExtent > 0 && kExtent % 8 == 0, "M and N come in groups of 8");
  static_assert(kDepth > 0 && kDepth * kBytes % 32 == 0, "one wgmma takes 32 bytes of K: 16 elements of 16 bits");

  static constexpr uint32_t kSpan = swizzle_span(kSwizzle);
  static constexpr uint32_t kBox = kSpan / kBytes;  // elements across a box
  static constexpr uint32_t kAlong = kMajor == Major::k ? kDepth : kExtent;
  static constexpr uint32_t kRows = kMajor == Major::k ? kExtent : kDepth;
  static_assert(kAlong % kBox == 0, "a tile is made of whole boxes");
  static constexpr uint32_t kBoxBytes = kSpan * kRows;
  static constexpr uint32_t kTileBytes = kBoxBytes * (kAlong / kBox);
  static constexpr bool kPlain = kSwizzle == Swizzle::none;
  static constexpr uint32_t kLeading = kPlain && kMajor == Major::mn ? 128 : kPlain || kMajor == Major::mn ? kBoxBytes : 16;
  static constexpr uint32_t kStride = kPlain && kMajor == Major::mn ? kBoxBytes : 8 * kSpan;
  static_assert(kLeading < 1 << 18 && kStride < 1 << 18, "offsets have 14 bits of 16 bytes");

  // Bytes from the tile's start to the step-th 32 bytes of K (16-bit inputs: 16 of K).
  __host__ __device__ static constexpr uint32_t k_offset(uint32_t step) {
    if (kMajor == Major::mn) {
      return step * 16 * kSpan;
    }
    return kPlain ? step * 2 * kBoxBytes : step * 32 / kSpan * kBoxBytes + step * 32 % kSpan;
  }

  // Bytes to the 64-row slice of a warpgroup.
  __host__ __device__ static constexpr uint32_t warpgroup_offset(uint32_t warpgroup) {
    return kMajor == Major::k ? warpgroup * 64 * kSpan : warpgroup * 64 / kBox * kBoxBytes;
  }
};

// The descriptor of the step-th 32 bytes of K, and of the 64 rows of one warpgroup. The tile starts on swizzle_alignment.
//@ptxk ptx="none" contracts=descriptor-strides,descriptor-k-step variants="Swizzle x Major"
template <Swizzle kSwizzle, Major kMajor, int kExtent, int kDepth, int kBytes = 2>
__device__ __forceinline__ uint64_t make_descriptor(const void* tile, uint32_t step = 0, uint32_t warpgroup = 0) {
  using Tile = OperandTile<kSwizzle, kMajor, kExtent, kDepth, kBytes>;
  const uint32_t offset = Tile::k_offset(step) + Tile::warpgroup_offset(warpgroup);
  // Added to a descriptor that all steps share. Shared addresses end below the field's 256 KiB: no carry.
  return encode_descriptor(shared_address(tile), Tile::kLeading, Tile::kStride, kSwizzle) + (offset >> 4);
}

}  // namespace ptxk
