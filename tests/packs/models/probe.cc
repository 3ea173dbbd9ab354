// Prints what the CPU models and the host-callable parts of the device headers say, one number or tuple a line.

#include <cstdio>
#include <cstring>

#include "ptxk/common/ring.cuh"
#include "ptxk/model/fragment.hpp"
#include "ptxk/model/layout.hpp"
#include "ptxk/model/mbarrier.hpp"
#include "ptxk/sm90/descriptor.cuh"

namespace model = ptxk::model;

namespace {

constexpr uint32_t kStart = 3 * 1024;

void swizzles() {
  for (uint32_t mode = 0; mode < 4; ++mode) {
    for (uint32_t address = 0; address < 4096; ++address) {
      std::printf("%u\n", model::swizzled(static_cast<model::Swizzle>(mode), address));
    }
  }
}

// Boxes of 20 rows as wide as a swizzle allows and narrower: swizzle, width, then where all (row, column) lie.
void boxes() {
  for (uint32_t mode = 0; mode < 4; ++mode) {
    const auto swizzle = static_cast<model::Swizzle>(mode);
    const uint32_t widest = swizzle == model::Swizzle::none ? 256 : model::span(swizzle);
    for (uint32_t width = 16; width <= widest; width += 16) {
      std::printf("%u %u", mode, width);
      for (uint32_t row = 0; row < 20; ++row) {
        for (uint32_t column = 0; column < width; ++column) {
          std::printf(" %u", model::box_byte(swizzle, width, row, column));
        }
      }
      std::printf("\n");
    }
  }
}

// The bytes of every element of a tile as one wgmma after another finds them: swizzle, major, bytes, extent, depth, the tile's
// bytes, then all (mn, k).
template <ptxk::Swizzle kSwizzle, ptxk::Major kMajor, int kExtent, int kDepth, int kBytes>
void tile() {
  using Tile = ptxk::OperandTile<kSwizzle, kMajor, kExtent, kDepth, kBytes>;
  constexpr int kStep = 32 / kBytes;
  std::printf("tile %u %u %d %d %d %u", static_cast<uint32_t>(kSwizzle), static_cast<uint32_t>(kMajor), kBytes, kExtent, kDepth,
              Tile::kTileBytes);
  for (int mn = 0; mn < kExtent; ++mn) {
    for (int k = 0; k < kDepth; ++k) {
      const model::Descriptor seen = model::decode(
          ptxk::encode_descriptor(kStart, Tile::kLeading, Tile::kStride, kSwizzle) + Tile::k_offset(k / kStep) / 16);
      std::printf(" %u", model::element_byte(seen, static_cast<model::Major>(kMajor), kBytes, mn, k % kStep) - kStart);
    }
  }
  std::printf("\n");
  for (int group = 0; group < kExtent / 64; ++group) {
    std::printf("slice");
    for (int mn = 0; mn < 64; ++mn) {
      const model::Descriptor seen = model::decode(
          ptxk::encode_descriptor(kStart, Tile::kLeading, Tile::kStride, kSwizzle) + Tile::warpgroup_offset(group) / 16);
      std::printf(" %u", model::element_byte(seen, static_cast<model::Major>(kMajor), kBytes, mn, 0) - kStart);
    }
    std::printf("\n");
  }
}

template <ptxk::Swizzle kSwizzle>
void tiles_of() {
  using ptxk::Major;
  tile<kSwizzle, Major::k, 64, 64, 2>();
  tile<kSwizzle, Major::k, 128, 128, 2>();
  tile<kSwizzle, Major::k, 24, 64, 2>();
  tile<kSwizzle, Major::k, 128, 128, 1>();
  tile<kSwizzle, Major::k, 96, 32, 4>();
  tile<kSwizzle, Major::mn, 64, 64, 2>();
  tile<kSwizzle, Major::mn, 256, 32, 2>();
  tile<kSwizzle, Major::mn, 128, 16, 2>();
}

void tiles() {
  tiles_of<ptxk::Swizzle::none>();
  tiles_of<ptxk::Swizzle::b128>();
  tiles_of<ptxk::Swizzle::b64>();
  tiles_of<ptxk::Swizzle::b32>();
}

// From standard input: address, leading, stride, base, swizzle. Out: whether they fit, the word, the header's word, the word
// decoded.
void descriptors() {
  uint32_t address, leading, stride, base, swizzle;
  while (std::scanf("%u %u %u %u %u", &address, &leading, &stride, &base, &swizzle) == 5) {
    const model::Descriptor given{address, leading, stride, base, static_cast<model::Swizzle>(swizzle)};
    const uint64_t word = model::encode(given);
    const model::Descriptor back = model::decode(word);
    std::printf("%d %llu %llu %u %u %u %u %u\n", model::encodable(given), static_cast<unsigned long long>(word),
                static_cast<unsigned long long>(
                    ptxk::encode_descriptor(address, leading, stride, static_cast<ptxk::Swizzle>(swizzle))),
                back.address, back.leading, back.stride, back.base, static_cast<uint32_t>(back.swizzle));
  }
}

void fragments() {
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 256; ++column) {
      const model::Register at = model::accumulator({row, column});
      std::printf("d %d %d %d %d\n", row, column, at.thread, at.index);
    }
    for (int bytes = 1; bytes <= 4; bytes *= 2) {
      for (int column = 0; column < 32 / bytes; ++column) {
        const model::Register at = model::operand_a({row, column}, bytes);
        std::printf("a%d %d %d %d %d\n", bytes, row, column, at.thread, at.index);
      }
    }
  }
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      const model::Register at = model::matrix({row, column});
      std::printf("m %d %d %d %d\n", row, column, at.thread, at.index);
    }
  }
}

// From standard input: "init n", then "arrive n", "expect n", "complete n", "both n". Out, after each: phase, pending, bytes,
// legal, whether parity 0 and parity 1 have passed.
void mbarriers() {
  char what[16];
  long long count;
  model::Mbarrier barrier(1);
  while (std::scanf("%15s %lld", what, &count) == 2) {
    if (!std::strcmp(what, "init")) {
      barrier = model::Mbarrier(count);
    } else if (!std::strcmp(what, "arrive")) {
      barrier.arrive(count);
    } else if (!std::strcmp(what, "expect")) {
      barrier.expect(count);
    } else if (!std::strcmp(what, "complete")) {
      barrier.complete(count);
    } else {
      barrier.arrive_expect(count);
    }
    std::printf("%llu %lld %lld %d %d %d\n", static_cast<unsigned long long>(barrier.phase()),
                static_cast<long long>(barrier.pending()), static_cast<long long>(barrier.transaction()), barrier.legal(),
                barrier.passed(0), barrier.passed(1));
  }
}

// A producer as far ahead as it can get and a consumer one stage at a time: prints the order of fills and uses.
template <int kStages>
void ring() {
  model::Mbarrier full[kStages], empty[kStages];
  ptxk::Ring<kStages> fill, use;
  int filled = 0, used = 0;
  std::printf("ring %d", kStages);
  while (used < 40) {
    while (filled < 40 && empty[fill.stage].passed(fill.parity ^ 1)) {
      full[fill.stage].arrive_expect(64);
      full[fill.stage].complete(64);
      std::printf(" fill%d@%d", filled++, fill.stage);
      fill.advance();
    }
    if (!full[use.stage].passed(use.parity)) {
      std::printf(" stuck");
      break;
    }
    std::printf(" use%d@%d", used++, use.stage);
    empty[use.stage].arrive();
    use.advance();
  }
  std::printf("\n");
}

}  // namespace

int main(int, char** arguments) {
  const auto asked = [&](const char* name) { return !std::strcmp(arguments[1], name); };
  if (asked("swizzles")) {
    swizzles();
  } else if (asked("boxes")) {
    boxes();
  } else if (asked("tiles")) {
    tiles();
  } else if (asked("descriptors")) {
    descriptors();
  } else if (asked("fragments")) {
    fragments();
  } else if (asked("mbarriers")) {
    mbarriers();
  } else if (asked("rings")) {
    ring<1>();
    ring<2>();
    ring<3>();
    ring<8>();
  } else {
    return 2;
  }
}
