// One box stored or added to a tensor, in groups by where it lies; every byte of the tensor and of the gaps and guards around it is
// compared.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "boxes.cuh"
#include "ptxk/sm90/fence.cuh"

namespace contracts {

constexpr int kStoreShared = 24 * 1024;
constexpr int kAdders = 8;  // blocks that add to the same box
constexpr int kFar = 1000;  // steps beyond an edge

enum Group {
  kInside,
  kRightInner,
  kRightOuter,
  kRightCorner,
  kRightRagged,
  kPromised,  // of those from here on nobody claims that they are legal
  kNegativeInner = kPromised,
  kNegativeOuter,
  kLeftOfInner,
  kLeftOfOuter,
  kRightOfInner,
  kRightOfOuter,
  kGroups
};
const char* const kGroupNames[kGroups] = {"inside",
                                          "across the right inner edge, rows of a multiple of 16 bytes",
                                          "across the right edge of an outer dimension",
                                          "across the right edges of all dimensions",
                                          "across the right inner edge of ragged rows, but for the last 16 bytes",
                                          "across the left inner edge",
                                          "across the left edge of an outer dimension",
                                          "wholly left of the inner dimension",
                                          "wholly left of an outer dimension",
                                          "wholly right of the inner dimension",
                                          "wholly right of an outer dimension"};

// What a store may make of the bytes between the end of a ragged row and the next multiple of 16 bytes.
enum Tail { kUntouched, kBoxed, kZeros, kTails };

// What a group's process says of one tensor.
struct Outcome {
  int error = cudaSuccess;                  // of a launch and its run: nothing else of the group is known from there on
  int made = 0;                             // the map
  unsigned long long cases = 0, wrong = 0;  // bytes, those of tails apart
  unsigned long long tail = 0, unlike[kTails] = {};
  std::string name;   // the tensor
  std::string first;  // the first wrong byte, or where the error came

  std::string line() const {
    return text("%d %d %llu %llu %llu %llu %llu %llu\t%s\t%s", error, made, cases, wrong, tail, unlike[kUntouched], unlike[kBoxed],
                unlike[kZeros], name.c_str(), first.c_str());
  }

  bool parse(const std::string& line) {
    char called[128] = "", said[512] = "";
    const int fields = std::sscanf(line.c_str(), "%d %d %llu %llu %llu %llu %llu %llu%*[\t]%127[^\t]%*[\t]%511[^\n]", &error, &made,
                                   &cases, &wrong, &tail, &unlike[kUntouched], &unlike[kBoxed], &unlike[kZeros], called, said);
    name = called;
    first = said;
    return fields >= 9;
  }

  bool right() const { return error == cudaSuccess && made && wrong == 0; }
  std::string told() const {
    return name + ": " + (error != cudaSuccess ? cudaGetErrorName(static_cast<cudaError_t>(error)) + (" at " + first) : first);
  }
};

// Lays `image` into shared memory with ordinary stores and stores or adds it as one box.
template <int kRank>
__global__ void store_once(const __grid_constant__ CUtensorMap map, Coordinates corner, const uint8_t* image, bool add) {
  __shared__ alignas(1024) uint32_t box[kStoreShared / 4];
  for (int i = threadIdx.x; i < kStoreShared / 4; i += blockDim.x) {
    box[i] = reinterpret_cast<const uint32_t*>(image)[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (add) {
      add_box<kRank>(&map, box, corner);
    } else {
      store_box<kRank>(&map, box, corner);
    }
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
}

// Coordinates of a group along dimension d, near the edge first.
inline std::vector<int> along(const Tensor& tensor, Group group, int d) {
  const int size = static_cast<int>(tensor.sizes[d]), box = static_cast<int>(tensor.box[d]), step = tensor.step(d);
  const auto legal = [&](int at) { return tensor.legal(d, at); };
  const int last = legal(size - 1), first_across = std::min(legal(size - box) + step, last);
  switch (group) {
    case kRightInner:
    case kRightOuter:
    case kRightRagged:
      return {first_across, last};
    case kNegativeInner:
    case kNegativeOuter:
      return {-step, step - box};
    case kLeftOfInner:
    case kLeftOfOuter:
      return {-box, -box - kFar * step};
    case kRightOfInner:
    case kRightOfOuter:
      return {legal(size + step - 1), legal(size + step - 1) + kFar * step};
    default:
      return {};
  }
}

inline std::vector<Coordinates> places(const Tensor& tensor, Group group, Random& random) {
  if (group == kInside) {
    return {tensor.inside(random), tensor.inside(random), tensor.inside(random)};
  }
  std::vector<Coordinates> all;
  if (group == kRightCorner) {
    Coordinates near{}, far{};
    for (int d = 0; d < tensor.rank; ++d) {
      const std::vector<int> at = along(tensor, kRightOuter, d);
      near.at[d] = at[0];
      far.at[d] = at[1];
    }
    return {near, far};
  }
  const bool inner = group == kRightInner || group == kRightRagged || group == kNegativeInner || group == kLeftOfInner ||
                     group == kRightOfInner;
  for (int d = inner ? 0 : 1; d < (inner ? 1 : tensor.rank); ++d) {
    for (const int at : along(tensor, group, d)) {
      Coordinates corner = tensor.inside(random);
      corner.at[d] = at;
      all.push_back(corner);
    }
  }
  return all;
}

template <typename T>
T encoded(int value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// A box in shared memory, and the allocation behind it if all of the box within the chunks of rows takes effect.
struct Laid {
  std::vector<uint8_t> shared, after;
};

// Random bytes.
inline Laid lay_bytes(const Tensor& tensor, const Coordinates& corner, Random& random) {
  Laid laid{std::vector<uint8_t>(kStoreShared), tensor.bytes};
  for (uint8_t& byte : laid.shared) {
    byte = static_cast<uint8_t>(random.next());
  }
  tensor.each_byte_within(tensor.chunked(), corner, [&](uint32_t row, uint32_t column, int64_t to) {
    if (to >= 0) {
      laid.after[to] = laid.shared[tensor.box_byte(row, column)];
    }
  });
  return laid;
}

// Small integers in the map's type, to be added kAdders times to `before`: exact in every type and order.
template <typename T>
Laid lay_addends(const Tensor& tensor, const std::vector<int>& before, const Coordinates& corner, Random& random) {
  Laid laid{std::vector<uint8_t>(kStoreShared), tensor.bytes};
  tensor.each_byte_within(tensor.chunked(), corner, [&](uint32_t row, uint32_t column, int64_t to) {
    if (column % sizeof(T) != 0) {
      return;
    }
    const int addend = random.between(0, 20);
    const T value = encoded<T>(addend);
    std::memcpy(&laid.shared[tensor.box_byte(row, column)], &value, sizeof(T));
    if (to >= 0) {
      const T sum = encoded<T>(before[(to - kGuard) / sizeof(T)] + kAdders * addend);
      std::memcpy(&laid.after[to], &sum, sizeof(T));
    }
  });
  return laid;
}

// Fills a tensor, its gaps too, with small integers, and gives them back.
template <typename T>
std::vector<int> small_integers(Tensor& tensor, Random& random) {
  std::vector<int> before((tensor.bytes.size() - 2 * kGuard) / sizeof(T));
  for (size_t i = 0; i < before.size(); ++i) {
    before[i] = random.between(0, 15);
    const T value = encoded<T>(before[i]);
    std::memcpy(&tensor.bytes[kGuard + i * sizeof(T)], &value, sizeof(T));
  }
  return before;
}

// Compares the whole allocation after a box at `corner`.
inline void compare(const Tensor& tensor, const Coordinates& corner, const Laid& laid, Tally& written, Outcome& outcome) {
  std::vector<bool> tail(laid.after.size());
  tensor.each_byte_within(tensor.chunked(), corner, [&](uint32_t, uint32_t column, int64_t to) {
    const int64_t at = static_cast<int64_t>(corner.at[0]) + column / tensor.element;
    if (to >= 0 && at >= static_cast<int64_t>(tensor.sizes[0])) {
      tail[to] = true;
    }
  });
  const std::vector<uint8_t> got = tensor.memory->read();
  for (size_t i = 0; i < got.size(); ++i) {
    if (tail[i]) {
      ++outcome.tail;
      outcome.unlike[kUntouched] += got[i] != tensor.bytes[i];
      outcome.unlike[kBoxed] += got[i] != laid.after[i];
      outcome.unlike[kZeros] += got[i] != 0;
    } else {
      written.equal(laid.after[i], got[i], [&] { return tensor.where(corner) + text(", byte %zu of the allocation", i); });
    }
  }
}

// All places of a group in one tensor, up to the first error. Elements are stored if T is a byte, else added.
template <typename T, CUtensorMapDataType kType, ptxk::Swizzle kSwizzle, uint32_t... kBox>
Outcome attempt(Group group, Random& random) {
  constexpr bool kAdd = !std::is_same_v<T, uint8_t>;
  static_assert(!kAdd || sizeof(T) == ptxk::element_bytes(kType), "the map's type");
  static_assert((kBox * ...) * ptxk::element_bytes(kType) <= kStoreShared, "a box fits");
  static_assert(((kBox > 1) && ...), "an edge can cut every side of a box");
  Outcome outcome;
  Tally maps, written;
  const RowEnd row_end = group == kRightRagged ? RowEnd::ragged : RowEnd::whole;
  Tensor tensor = make_tensor<kType, kSwizzle, kBox...>(random, maps, row_end);
  outcome.name = tensor.name;
  outcome.made = tensor.made;
  if (!tensor.made) {
    outcome.first = maps.first();
    return outcome;
  }
  std::vector<int> before;
  if constexpr (kAdd) {
    before = small_integers<T>(tensor, random);
  }
  Device<uint8_t> image(kStoreShared);
  for (const Coordinates& corner : places(tensor, group, random)) {
    Laid laid;
    if constexpr (kAdd) {
      laid = lay_addends<T>(tensor, before, corner, random);
    } else {
      laid = lay_bytes(tensor, corner, random);
    }
    image.write(laid.shared);
    tensor.upload();
    store_once<sizeof...(kBox)><<<kAdd ? kAdders : 1, 128>>>(tensor.map, corner, image.get(), kAdd);
    const cudaError_t launched = cudaGetLastError();
    outcome.error = launched == cudaSuccess ? cudaDeviceSynchronize() : launched;
    if (outcome.error != cudaSuccess) {
      outcome.first = tensor.where(corner);
      return outcome;
    }
    compare(tensor, corner, laid, written, outcome);
  }
  outcome.cases = written.cases();
  outcome.wrong = written.wrong();
  outcome.first = written.first();
  return outcome;
}

}  // namespace contracts
