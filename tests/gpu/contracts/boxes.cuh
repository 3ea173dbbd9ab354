// Tensors in global memory, the boxes that TMA cuts out of them, and what a box looks like in shared memory by the models.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>

#include "check.hpp"
#include "driver.hpp"
#include "ptxk/model/swizzle.hpp"
#include "ptxk/sm90/tensor_map.cuh"
#include "ptxk/sm90/tma.cuh"
#include "ptxk/sm90/tma_ranks.cuh"

namespace contracts {

struct Coordinates {
  int at[5];
};

constexpr uint32_t kSharedPoison = 0xA5A5A5A5;
constexpr uint32_t kGuard = 256;  // bytes before and behind a tensor that nothing may write
constexpr uint32_t kInnerBytes = 16;  // what the inner coordinate, in bytes, is a multiple of

// A tensor of random bytes with gaps between its rows, and its map with boxes of kBox.
struct Tensor {
  std::string name;
  int rank = 0;
  uint32_t element = 0;  // bytes
  ptxk::Swizzle swizzle = ptxk::Swizzle::none;
  std::array<uint64_t, 5> sizes{1, 1, 1, 1, 1};
  std::array<uint64_t, 5> pitches{};  // bytes between neighbours of each dimension
  std::array<uint32_t, 5> box{1, 1, 1, 1, 1};
  std::vector<uint8_t> bytes;  // with kGuard on both sides
  std::unique_ptr<Device<uint8_t>> memory;
  CUtensorMap map{};
  bool made = false;  // else TMA must not see the map: it would end the program

  uint32_t width() const { return box[0] * element; }
  uint32_t rows() const { return box[1] * box[2] * box[3] * box[4]; }
  uint32_t box_bytes() const { return width() * rows(); }
  ptxk::model::Swizzle model_swizzle() const { return static_cast<ptxk::model::Swizzle>(swizzle); }

  // Where byte `column` of row `row` of a box lies in shared memory, counted from the box's start.
  uint32_t box_byte(uint32_t row, uint32_t column) const {
    return ptxk::model::box_byte(model_swizzle(), width(), row, column);
  }

  // The inner size, in elements, with the rest of the last chunk of 16 bytes.
  uint64_t chunked() const { return (sizes[0] + step(0) - 1) / step(0) * step(0); }

  // Calls visit(row, column byte of the box, offset in `bytes`, or -1 for what lies outside the tensor) for the whole box.
  template <typename Visit>
  void each_byte(const Coordinates& corner, Visit visit) const {
    each_byte_within(sizes[0], corner, visit);
  }

  // The same as if the tensor had `inner` elements in a row.
  template <typename Visit>
  void each_byte_within(uint64_t inner, const Coordinates& corner, Visit visit) const {
    for (uint32_t row = 0; row < rows(); ++row) {
      uint32_t rest = row;
      int64_t offset = kGuard;
      bool inside = true;
      for (int d = 1; d < rank; ++d) {
        const int64_t at = static_cast<int64_t>(corner.at[d]) + rest % box[d];
        rest /= box[d];
        inside = inside && at >= 0 && at < static_cast<int64_t>(sizes[d]);
        offset += at * static_cast<int64_t>(pitches[d]);
      }
      for (uint32_t column = 0; column < width(); ++column) {
        const int64_t at = static_cast<int64_t>(corner.at[0]) + column / element;
        const bool there = inside && at >= 0 && at < static_cast<int64_t>(inner);
        visit(row, column, there ? offset + at * element + column % element : -1);
      }
    }
  }

  // Shared memory after the load of a box (PTX ISA, "Swizzling Modes", "Out-of-bound access").
  std::vector<uint8_t> image(const Coordinates& corner, size_t size) const {
    std::vector<uint8_t> shared(size, kSharedPoison & 0xFF);
    each_byte(corner, [&](uint32_t row, uint32_t column, int64_t from) {
      shared[box_byte(row, column)] = from < 0 ? 0 : bytes[from];
    });
    return shared;
  }

  // Coordinates along a dimension are multiples of this: along the inner one, of 16 bytes. Others are illegal instructions on an
  // H200 (tma_inner.cu).
  int step(int d) const { return d == 0 ? static_cast<int>(kInnerBytes / element) : 1; }

  // The last legal coordinate that is not above `at`, negative ones too.
  int legal(int d, int at) const { return at - (at % step(d) + step(d)) % step(d); }

  // A box somewhere inside.
  Coordinates inside(Random& random) const {
    Coordinates corner{};
    for (int d = 0; d < rank; ++d) {
      corner.at[d] = random.between(0, static_cast<int>(sizes[d] - box[d]) / step(d)) * step(d);
    }
    return corner;
  }

  std::string where(const Coordinates& c) const {
    return text("%s at (%d,%d,%d,%d,%d)", name.c_str(), c.at[0], c.at[1], c.at[2], c.at[3], c.at[4]);
  }

  // Puts the bytes into device memory.
  void upload() { memory->write(bytes); }
};

inline const char* swizzle_name(ptxk::Swizzle swizzle) {
  return swizzle == ptxk::Swizzle::b128  ? "128B"
         : swizzle == ptxk::Swizzle::b64 ? "64B"
         : swizzle == ptxk::Swizzle::b32 ? "32B"
                                         : "none";
}

// Where a tensor's rows end: within a chunk of 16 bytes, or with one.
enum class RowEnd { ragged, whole };

// A tensor somewhat larger than its box along every dimension; the map is made by the pack's make_tensor_map, whose answers `maps`
// counts.
template <CUtensorMapDataType kType, ptxk::Swizzle kSwizzle, uint32_t... kBox>
Tensor make_tensor(Random& random, Tally& maps, RowEnd row_end = RowEnd::ragged) {
  constexpr int kRank = sizeof...(kBox);
  Tensor t;
  t.rank = kRank;
  t.element = ptxk::element_bytes(kType);
  t.swizzle = kSwizzle;
  const uint32_t box[] = {kBox...};
  t.name = text("%dD type %d swizzle %s box", kRank, static_cast<int>(kType), swizzle_name(kSwizzle));
  uint64_t pitch = t.element;
  for (int d = 0; d < kRank; ++d) {
    t.box[d] = box[d];
    t.sizes[d] = box[d] + random.between(1, static_cast<int>(box[d]) + 3);
    if (d == 0 && row_end == RowEnd::whole) {
      t.sizes[0] = t.chunked();
    } else if (t.step(d) > 1 && t.sizes[d] % t.step(d) == 0) {
      ++t.sizes[d];
    }
    t.pitches[d] = pitch;
    pitch = (pitch * t.sizes[d] + 15) / 16 * 16 + 16 * random.between(0, 2);  // strides are multiples of 16 bytes
    t.name += text(d ? "x%u" : " %u", box[d]);
  }
  t.bytes.resize(pitch + 2 * kGuard);
  for (uint8_t& byte : t.bytes) {
    byte = static_cast<uint8_t>(random.next());
  }
  t.memory = std::make_unique<Device<uint8_t>>(t.bytes);
  uint64_t sizes[kRank];
  uint64_t strides[kRank > 1 ? kRank - 1 : 1] = {};
  for (int d = 0; d < kRank; ++d) {
    sizes[d] = t.sizes[d];
    if (d > 0) {
      strides[d - 1] = t.pitches[d];
    }
  }
  const CUresult made = ptxk::make_tensor_map<kType, kSwizzle, kBox...>(&t.map, t.memory->get() + kGuard, sizes, strides);
  t.made = made == CUDA_SUCCESS;
  maps.holds(t.made, [&] { return t.name + text(": CUresult %d", static_cast<int>(made)); });
  return t;
}

template <int kRank>
__device__ __forceinline__ void load_box(void* to, const CUtensorMap* map, uint64_t* barrier, const Coordinates& c) {
  if constexpr (kRank == 1) {
    ptxk::tma_load_1d(to, map, barrier, c.at[0]);
  } else if constexpr (kRank == 2) {
    ptxk::tma_load_2d(to, map, barrier, c.at[0], c.at[1]);
  } else if constexpr (kRank == 3) {
    ptxk::tma_load_3d(to, map, barrier, c.at[0], c.at[1], c.at[2]);
  } else if constexpr (kRank == 4) {
    ptxk::tma_load_4d(to, map, barrier, c.at[0], c.at[1], c.at[2], c.at[3]);
  } else {
    ptxk::tma_load_5d(to, map, barrier, c.at[0], c.at[1], c.at[2], c.at[3], c.at[4]);
  }
}

template <int kRank>
__device__ __forceinline__ void prefetch_box(const CUtensorMap* map, const Coordinates& c) {
  if constexpr (kRank == 1) {
    ptxk::tma_prefetch_1d(map, c.at[0]);
  } else if constexpr (kRank == 2) {
    ptxk::tma_prefetch_2d(map, c.at[0], c.at[1]);
  } else if constexpr (kRank == 3) {
    ptxk::tma_prefetch_3d(map, c.at[0], c.at[1], c.at[2]);
  } else if constexpr (kRank == 4) {
    ptxk::tma_prefetch_4d(map, c.at[0], c.at[1], c.at[2], c.at[3]);
  } else {
    ptxk::tma_prefetch_5d(map, c.at[0], c.at[1], c.at[2], c.at[3], c.at[4]);
  }
}

template <int kRank>
__device__ __forceinline__ void store_box(const CUtensorMap* map, const void* from, const Coordinates& c) {
  if constexpr (kRank == 1) {
    ptxk::tma_store_1d(map, from, c.at[0]);
  } else if constexpr (kRank == 2) {
    ptxk::tma_store_2d(map, from, c.at[0], c.at[1]);
  } else if constexpr (kRank == 3) {
    ptxk::tma_store_3d(map, from, c.at[0], c.at[1], c.at[2]);
  } else if constexpr (kRank == 4) {
    ptxk::tma_store_4d(map, from, c.at[0], c.at[1], c.at[2], c.at[3]);
  } else {
    ptxk::tma_store_5d(map, from, c.at[0], c.at[1], c.at[2], c.at[3], c.at[4]);
  }
}

template <int kRank>
__device__ __forceinline__ void add_box(const CUtensorMap* map, const void* from, const Coordinates& c) {
  if constexpr (kRank == 1) {
    ptxk::tma_reduce_add_1d(map, from, c.at[0]);
  } else if constexpr (kRank == 2) {
    ptxk::tma_reduce_add_2d(map, from, c.at[0], c.at[1]);
  } else if constexpr (kRank == 3) {
    ptxk::tma_reduce_add_3d(map, from, c.at[0], c.at[1], c.at[2]);
  } else if constexpr (kRank == 4) {
    ptxk::tma_reduce_add_4d(map, from, c.at[0], c.at[1], c.at[2], c.at[3]);
  } else {
    ptxk::tma_reduce_add_5d(map, from, c.at[0], c.at[1], c.at[2], c.at[3], c.at[4]);
  }
}

// Calls run(std::integral_constant<int, rank>) for the tensor's rank.
template <typename Run>
void by_rank(int rank, Run run) {
  switch (rank) {
    case 1:
      return run(std::integral_constant<int, 1>{});
    case 2:
      return run(std::integral_constant<int, 2>{});
    case 3:
      return run(std::integral_constant<int, 3>{});
    case 4:
      return run(std::integral_constant<int, 4>{});
    default:
      return run(std::integral_constant<int, 5>{});
  }
}

}  // namespace contracts
