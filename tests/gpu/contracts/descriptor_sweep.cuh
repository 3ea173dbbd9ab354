// One wgmma of bf16 for every N, both operands from one memory full of small integers, through descriptors of every swizzle: the
// model says what each descriptor reads, with the header's strides and with others. Majors are the program's.
#pragma once

#include <map>
#include <string>

#include "check.hpp"
#include "elements.hpp"
#include "layouts.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace contracts {

constexpr uint32_t kMemoryBytes = 192 * 1024;
constexpr uint32_t kLatestStart = 32 * 1024;
constexpr uint32_t kMostStride = 4096;

struct alignas(1024) Storage {
  uint8_t bytes[kMemoryBytes];
};

// One product for each pair of descriptors, whose addresses count from the memory's start.
template <int N, ptxk::Major kA, ptxk::Major kB>
__global__ void __launch_bounds__(128) multiply(const uint4* memory, const uint64_t* words, int cases, float* registers) {
  extern __shared__ uint8_t raw[];
  Storage& storage = ptxk::aligned_shared<Storage>(raw);
  for (uint32_t i = threadIdx.x; i < kMemoryBytes / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(storage.bytes)[i] = memory[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  const uint64_t start = ptxk::shared_address(&storage) >> 4;
  for (int one = blockIdx.x; one < cases; one += gridDim.x) {
    float d[N / 2];
    for (float& value : d) {
      value = 12345.f;  // what D held is ignored
    }
    ptxk::wgmma_fence();
    ptxk::wgmma_m64k16<N, ptxk::Input::bf16, kA, kB>(d, words[2 * one] + start, words[2 * one + 1] + start, 0);
    ptxk::wgmma_commit();
    ptxk::wgmma_wait<0>();
    ptxk::wgmma_settle(d);
    for (int i = 0; i < N / 2; ++i) {
      registers[(static_cast<size_t>(one) * 128 + threadIdx.x) * (N / 2) + i] = d[i];
    }
  }
}

// Two descriptors, what is said of them, and the one of A or B with the header's strides if this one has others that count.
struct Case {
  const char* contract;
  std::string check;
  uint64_t a, b;
  uint64_t usual_a, usual_b;
};

template <ptxk::Major kA, ptxk::Major kB>
class Sweep {
 public:
  // Contract programs' main: the model against boxes, then every N on the device.
  static int main(int argc, char** argv) {
    Checks checks(argc, argv);
    model(checks);
    if (checks.on_device()) {
      device(checks);
    }
    return checks.status();
  }

 private:
  // All cases of one N.
  static std::vector<Case> cases(int n, Random& random) {
    std::vector<Case> all;
    for (const ptxk::Swizzle of_a : kSwizzles) {
      for (const ptxk::Swizzle of_b : kSwizzles) {
        for (int step = 0; step < kSteps; ++step) {
          const uint64_t a = word<kA>(of_a, 64, step, random), b = word<kB>(of_b, n, step, random);
          const std::string operands = text("A %s %s, B %s %s", name_of(kA), name_of(of_a), name_of(kB), name_of(of_b));
          all.push_back(step == 0 ? Case{"descriptor-strides", operands + ", n 8..256", a, b, a, b}
                                  : Case{"descriptor-k-step", operands + ", K steps 1..3, n 8..256", a, b, a, b});
        }
      }
    }
    for (const ptxk::Swizzle swizzle : kSwizzles) {
      for (const bool leading : {true, false, true, false}) {
        const uint64_t a = word<kA>(ptxk::Swizzle::b128, 64, 0, random), b = word<kB>(ptxk::Swizzle::b128, n, 0, random);
        const uint64_t usual_a = word<kA>(swizzle, 64, 0, random), usual_b = word<kB>(swizzle, n, 0, random);
        const auto [other_a, what_a] = changed<kA>(usual_a, 64, leading, random);
        const auto [other_b, what_b] = changed<kB>(usual_b, n, leading, random);
        all.push_back({"descriptor-strides", text("A %s %s: %s", name_of(kA), name_of(swizzle), what_a), other_a, b, usual_a, b});
        all.push_back({"descriptor-strides", text("B %s %s: %s", name_of(kB), name_of(swizzle), what_b), a, other_b, a, usual_b});
      }
    }
    return all;
  }

  // The header's descriptor of a tile that starts anywhere the swizzle lets it.
  template <ptxk::Major kMajor>
  static uint64_t word(ptxk::Swizzle swizzle, int extent, int step, Random& random) {
    const uint32_t unit = ptxk::swizzle_alignment(swizzle);
    const Layout layout = layout_of<kMajor>(swizzle, extent);
    const uint32_t start = unit * random.between(0, kLatestStart / unit);
    return ptxk::encode_descriptor(start, layout.leading, layout.stride, swizzle) + layout.step[step] / 16;
  }

  // A descriptor with another leading or stride offset, and what the model says of that: a field that is read gets whole patterns
  // or core matrices, one that is not read gets any number. All stay in memory, should the model be wrong.
  template <ptxk::Major kMajor>
  static std::pair<uint64_t, const char*> changed(uint64_t usual, int extent, bool leading, Random& random) {
    const ptxk::model::Descriptor before = ptxk::model::decode(usual);
    const auto with = [&](uint32_t bytes) {
      ptxk::model::Descriptor after = before;
      (leading ? after.leading : after.stride) = bytes;
      return after;
    };
    const auto last = [&](const ptxk::model::Descriptor& descriptor) {
      return ptxk::model::element_byte(descriptor, model_of(kMajor), 2, extent - 1, 15);
    };
    const bool read = last(with(0)) != last(with(kMostStride));
    const uint32_t unit = read ? 8 * ptxk::model::span(before.swizzle) : 16;
    uint32_t bytes = 0;
    do {
      bytes = unit * random.between(0, kMostStride / unit);
    } while (bytes == (leading ? before.leading : before.stride));
    return {ptxk::model::encode(with(bytes)), leading ? (read ? "another LBO is read" : "LBO is not read")
                                                      : (read ? "another SBO is read" : "SBO is not read")};
  }

  // What needs no device: the header's descriptors find boxes, and other strides that are read ask for other elements.
  static void model(Checks& checks) {
    Tally boxes, differ;
    Random random(kSeed);
    const Memory memory(Type::bf16, kMemoryBytes, random);
    for (int n = 8; n <= 256; n += 8) {
      in_boxes<kA>(64, boxes);
      in_boxes<kB>(n, boxes);
      for (const Case& one : cases(n, random)) {
        if (one.check.find("another") != std::string::npos) {
          const bool other = operand(memory, one.a, model_of(kA), 64).values != operand(memory, one.usual_a, model_of(kA), 64).values ||
                             operand(memory, one.b, model_of(kB), n).values != operand(memory, one.usual_b, model_of(kB), n).values;
          differ.holds(other, [&] { return text("n %d, %s: the same elements", n, one.check.c_str()); });
        }
      }
    }
    checks.report("descriptor-strides", text("%s A and %s B lie where TMA's boxes lie", name_of(kA), name_of(kB)), boxes);
    checks.report("descriptor-strides", "other strides ask for other elements", differ);
  }

  template <ptxk::Major kMajor>
  static void in_boxes(int extent, Tally& tally) {
    for (const ptxk::Swizzle swizzle : kSwizzles) {
      const Layout layout = layout_of<kMajor>(swizzle, extent);
      const uint64_t first = ptxk::encode_descriptor(0, layout.leading, layout.stride, swizzle);
      for (int mn = 0; mn < extent; ++mn) {
        for (int k = 0; k < kDepth; ++k) {
          const auto descriptor = ptxk::model::decode(first + layout.step[k / 16] / 16);
          tally.equal(boxed_byte(swizzle, kMajor, layout.box_bytes, mn, k),
                      ptxk::model::element_byte(descriptor, model_of(kMajor), 2, mn, k % 16),
                      [&] { return text("%s %s, extent %d, element %d, k %d", name_of(kMajor), name_of(swizzle), extent, mn, k); });
        }
      }
    }
  }

  static void device(Checks& checks) {
    Random random(kSeed);
    const Memory memory(Type::bf16, kMemoryBytes, random);
    Device<uint8_t> image(memory.bytes());
    std::map<std::pair<std::string, std::string>, Tally> tallies;
    every_n(memory, image, random, tallies, std::make_integer_sequence<int, 32>());
    for (const auto& [name, tally] : tallies) {
      checks.report(name.first.c_str(), name.second, tally);
    }
  }

  template <int... kEights>
  static void every_n(const Memory& memory, const Device<uint8_t>& image, Random& random,
                      std::map<std::pair<std::string, std::string>, Tally>& tallies, std::integer_sequence<int, kEights...>) {
    (one_n<8 * (kEights + 1)>(memory, image, random, tallies), ...);
  }

  template <int N>
  static void one_n(const Memory& memory, const Device<uint8_t>& image, Random& random,
                    std::map<std::pair<std::string, std::string>, Tally>& tallies) {
    const std::vector<Case> all = cases(N, random);
    std::vector<uint64_t> words;
    for (const Case& one : all) {
      words.push_back(one.a);
      words.push_back(one.b);
    }
    const int count = static_cast<int>(all.size());
    const Device<uint64_t> given(words);
    const Device<float> registers(static_cast<size_t>(count) * 64 * N);
    const auto kernel = multiply<N, kA, kB>;
    constexpr int kShared = ptxk::shared_bytes<Storage>;
    CUDA_MUST(ptxk::allow_shared(kernel, kShared));
    kernel<<<32, 128, kShared>>>(reinterpret_cast<const uint4*>(image.get()), given.get(), count, registers.get());
    CUDA_FINISH("multiply");
    const std::vector<float> got = registers.read();
    for (int i = 0; i < count; ++i) {
      const Matrix expected = product(operand(memory, all[i].a, model_of(kA), 64), operand(memory, all[i].b, model_of(kB), N));
      compare(tallies[{all[i].contract, all[i].check}], expected, 0, &got[static_cast<size_t>(i) * 64 * N], [&] {
        return text("n %d, descriptors %016llx %016llx", N, static_cast<unsigned long long>(all[i].a),
                    static_cast<unsigned long long>(all[i].b));
      });
    }
  }

  static constexpr uint64_t kSeed = 20240 + 2 * static_cast<int>(kA) + static_cast<int>(kB);
};

}  // namespace contracts
