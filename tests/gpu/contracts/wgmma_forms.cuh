// Every form of wgmma by its types: two products, one after the other, into registers that held something else before. B, and A
// unless it comes from registers, lie K-major in memory full of small integers.
#pragma once

#include <cuda_fp16.h>

#include <string>
#include <type_traits>

#include "elements.hpp"
#include "layouts.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace contracts {

enum class Sums { f32, f16, s32 };

struct Form {
  const char* name;
  Type a, b;
  Sums sums;
};

constexpr Form kForms[] = {
    {"bf16 to f32", Type::bf16, Type::bf16, Sums::f32},        {"f16 to f32", Type::f16, Type::f16, Sums::f32},
    {"f16 to f16", Type::f16, Type::f16, Sums::f16},           {"tf32 to f32", Type::tf32, Type::tf32, Sums::f32},
    {"e4m3 to f32", Type::e4m3, Type::e4m3, Sums::f32},        {"e5m2 to f32", Type::e5m2, Type::e5m2, Sums::f32},
    {"e4m3, e5m2 to f32", Type::e4m3, Type::e5m2, Sums::f32},  {"e5m2, e4m3 to f32", Type::e5m2, Type::e4m3, Sums::f32},
    {"s8 to s32", Type::s8, Type::s8, Sums::s32},
};
constexpr int kFormCount = sizeof kForms / sizeof kForms[0];

constexpr ptxk::Input input_of(Type type) {
  return type == Type::bf16   ? ptxk::Input::bf16
         : type == Type::f16  ? ptxk::Input::f16
         : type == Type::tf32 ? ptxk::Input::tf32
         : type == Type::e4m3 ? ptxk::Input::e4m3
         : type == Type::e5m2 ? ptxk::Input::e5m2
                              : ptxk::Input::s8;
}

template <int kForm, int N>
struct Accumulator {
  static constexpr Form kOf = kForms[kForm];
  static constexpr int kBytes = bytes_of(kOf.a);
  static constexpr ptxk::Input kA = input_of(kOf.a), kB = input_of(kOf.b);
  static constexpr int kRegisters = kOf.sums == Sums::f16 ? N / 4 : N / 2;
  using Word = std::conditional_t<kOf.sums == Sums::f32, float, std::conditional_t<kOf.sums == Sums::s32, int32_t, uint32_t>>;
};

// `a`: a descriptor, or the four words of this thread.
template <int kForm, int N, typename A, typename D>
__device__ __forceinline__ void multiply_add(D& d, const A& a, uint64_t b, int accumulate) {
  using Sum = Accumulator<kForm, N>;
  constexpr Form kOf = Sum::kOf;
  constexpr bool kWords = !std::is_same_v<A, uint64_t>;
  if constexpr (kOf.sums == Sums::s32) {
    if constexpr (kWords) {
      ptxk::wgmma_m64k32_s8_rs<N>(d, a, b, accumulate);
    } else {
      ptxk::wgmma_m64k32_s8<N>(d, a, b, accumulate);
    }
  } else if constexpr (kOf.sums == Sums::f16) {
    if constexpr (kWords) {
      ptxk::wgmma_m64k16_f16_rs<N>(d, a, b, accumulate);
    } else {
      ptxk::wgmma_m64k16_f16<N>(d, a, b, accumulate);
    }
  } else if constexpr (kOf.a == Type::tf32) {
    if constexpr (kWords) {
      ptxk::wgmma_m64k8_tf32_rs<N>(d, a, b, accumulate);
    } else {
      ptxk::wgmma_m64k8_tf32<N>(d, a, b, accumulate);
    }
  } else if constexpr (Sum::kBytes == 1) {
    if constexpr (kWords) {
      ptxk::wgmma_m64k32_rs<N, Sum::kA, Sum::kB>(d, a, b, accumulate);
    } else {
      ptxk::wgmma_m64k32<N, Sum::kA, Sum::kB>(d, a, b, accumulate);
    }
  } else {
    if constexpr (kWords) {
      ptxk::wgmma_m64k16_rs<N, Sum::kA>(d, a, b, accumulate);
    } else {
      ptxk::wgmma_m64k16<N, Sum::kA>(d, a, b, accumulate);
    }
  }
}

constexpr uint32_t kHalf = 64 * 1024;  // A's memory, then B's

struct alignas(1024) Halves {
  uint8_t bytes[2 * kHalf];
};

// For each case two products: `words` has the descriptors of A and B of the first and of the second, counted from the start of A's or
// B's memory; `fragments` the words of A in registers, [case][product][thread][word]. `scale` tells whether the first product adds to
// what D held, 1 everywhere.
template <int kForm, int N, bool kRegisters>
__global__ void __launch_bounds__(128) multiply_form(const uint4* memory, const uint64_t* words, const uint32_t* fragments, int cases,
                                                     int scale, typename Accumulator<kForm, N>::Word* registers) {
  using Sum = Accumulator<kForm, N>;
  extern __shared__ uint8_t raw[];
  Halves& halves = ptxk::aligned_shared<Halves>(raw);
  for (uint32_t i = threadIdx.x; i < 2 * kHalf / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(halves.bytes)[i] = memory[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  const uint64_t start = ptxk::shared_address(&halves) >> 4;
  for (int one = blockIdx.x; one < cases; one += gridDim.x) {
    typename Sum::Word d[Sum::kRegisters];
    for (auto& value : d) {
      value = Sum::kOf.sums == Sums::f16 ? 0x3C003C00 : 1;
    }
    ptxk::wgmma_settle(d);  // or ptxas puts the constants behind the fence
    const uint64_t b[2] = {words[4 * one + 1] + start + kHalf / 16, words[4 * one + 3] + start + kHalf / 16};
    if constexpr (kRegisters) {
      uint32_t a[2][4];
      for (int i = 0; i < 8; ++i) {
        a[i / 4][i % 4] = fragments[((one * 2 + i / 4) * 128 + threadIdx.x) * 4 + i % 4];
      }
      ptxk::wgmma_fence();
      multiply_add<kForm, N>(d, a[0], b[0], scale);
      multiply_add<kForm, N>(d, a[1], b[1], 1);
      ptxk::wgmma_commit();
      ptxk::wgmma_wait<0>();
    } else {
      const uint64_t a[2] = {words[4 * one] + start, words[4 * one + 2] + start};
      ptxk::wgmma_fence();
      multiply_add<kForm, N>(d, a[0], b[0], scale);
      multiply_add<kForm, N>(d, a[1], b[1], 1);
      ptxk::wgmma_commit();
      ptxk::wgmma_wait<0>();
    }
    ptxk::wgmma_settle(d);
    for (int i = 0; i < Sum::kRegisters; ++i) {
      registers[(static_cast<size_t>(one) * 128 + threadIdx.x) * Sum::kRegisters + i] = d[i];
    }
  }
}

// Element by element: packed f16 sums as floats.
template <typename Word>
std::vector<float> elements_of(const std::vector<Word>& registers, Sums sums) {
  std::vector<float> elements;
  for (const Word word : registers) {
    if (sums != Sums::f16) {
      elements.push_back(static_cast<float>(word));
    } else {
      const uint32_t bits = static_cast<uint32_t>(word);
      for (const uint32_t half : {bits & 0xFFFF, bits >> 16}) {
        __half_raw raw;
        raw.x = static_cast<unsigned short>(half);
        elements.push_back(__half2float(__half(raw)));
      }
    }
  }
  return elements;
}

// The words that 128 threads hold of a 64 x K matrix, where the model of the fragment puts each element.
inline std::vector<uint32_t> fragment_of(Type type, const Matrix& matrix) {
  const int size = bytes_of(type), in_word = 4 / size;
  std::vector<uint32_t> words(128 * 4);
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < matrix.columns; ++k) {
      const ptxk::model::Register at = ptxk::model::operand_a({row, k}, size);
      words[at.thread * 4 + at.index / in_word] |= encode(type, matrix.at(row, k)) << at.index % in_word * 8 * size;
    }
  }
  return words;
}

// One form and N: 16 cases of every swizzle and step. Returns what differed. `smudge` sets bits that the type does not have.
template <int kForm, int N, bool kRegisters>
Tally try_form(int scale, uint32_t smudge = 0) {
  using Sum = Accumulator<kForm, N>;
  constexpr Form kOf = kForms[kForm];
  Random random(1000 * kForm + N + scale);
  const Memory memory_a(kOf.a, kHalf, random), memory_b(kOf.b, kHalf, random);
  std::vector<uint8_t> bytes = memory_a.bytes();
  bytes.insert(bytes.end(), memory_b.bytes().begin(), memory_b.bytes().end());
  for (size_t i = 0; smudge != 0 && i < bytes.size(); i += 4) {
    uint32_t word;
    std::memcpy(&word, &bytes[i], 4);
    word |= static_cast<uint32_t>(random.next()) & smudge;
    std::memcpy(&bytes[i], &word, 4);
  }
  std::vector<uint64_t> words;
  std::vector<uint32_t> fragments;
  std::vector<Matrix> expected;
  for (const ptxk::Swizzle swizzle : kSwizzles) {
    for (int first = 0; first < kSteps; ++first) {
      Matrix sum{64, N, std::vector<int>(64 * N, scale)};
      for (const int step : {first, (first + 1) % kSteps}) {
        const auto word = [&](int extent) {
          const Layout layout = layout_of<ptxk::Major::k>(swizzle, extent);
          const uint32_t start = 1024 * random.between(0, 16);
          return ptxk::encode_descriptor(start, layout.leading, layout.stride, swizzle) + layout.step[step] / 16;
        };
        words.push_back(word(64));
        words.push_back(word(N));
        const Matrix a = kRegisters ? random_matrix(64, 32 / bytes_of(kOf.a), most(kOf.a), random)
                                    : operand(memory_a, words[words.size() - 2], ptxk::model::Major::k, 64);
        const std::vector<uint32_t> fragment = fragment_of(kOf.a, a);
        fragments.insert(fragments.end(), fragment.begin(), fragment.end());
        add_product(sum, a, operand(memory_b, words.back(), ptxk::model::Major::k, N));
      }
      expected.push_back(sum);
    }
  }
  const int cases = static_cast<int>(expected.size());
  const Device<uint8_t> image(bytes);
  const Device<uint64_t> given(words);
  const Device<uint32_t> held(fragments);
  const Device<typename Sum::Word> registers(static_cast<size_t>(cases) * 128 * Sum::kRegisters);
  const auto kernel = multiply_form<kForm, N, kRegisters>;
  constexpr int kShared = ptxk::shared_bytes<Halves>;
  CUDA_MUST(ptxk::allow_shared(kernel, kShared));
  kernel<<<cases, 128, kShared>>>(reinterpret_cast<const uint4*>(image.get()), given.get(), held.get(), cases, scale, registers.get());
  CUDA_FINISH("multiply_form");
  const std::vector<float> got = elements_of(registers.read(), kOf.sums);
  Tally tally;
  for (int one = 0; one < cases; ++one) {
    compare(tally, expected[one], 0, &got[static_cast<size_t>(one) * 64 * N],
            [&] { return text("n %d, %s, first step %d", N, name_of(kSwizzles[one / kSteps]), one % kSteps); });
  }
  return tally;
}

template <int kForm, bool kRegisters>
void check_form(Checks& checks, const char* contract) {
  for (const int scale : {0, 1}) {
    Tally tally = try_form<kForm, 8, kRegisters>(scale);
    tally += try_form<kForm, 24, kRegisters>(scale);
    tally += try_form<kForm, 96, kRegisters>(scale);
    tally += try_form<kForm, 256, kRegisters>(scale);
    checks.report(contract, text("%s, A in %s, n 8, 24, 96, 256, %s", kForms[kForm].name, kRegisters ? "registers" : "memory",
                                 scale ? "added to what D held" : "what D held is ignored"), tally);
  }
}

template <bool kRegisters, int... kEach>
void check_forms(Checks& checks, const char* contract, std::integer_sequence<int, kEach...>) {
  (check_form<kEach, kRegisters>(checks, contract), ...);
}

}  // namespace contracts
