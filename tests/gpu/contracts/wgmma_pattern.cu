// What descriptors do off the swizzle's pattern and off core matrices, recorded and not judged: no contract speaks of it, and the
// documentation of the base offset leaves room. Figures say how many answers differ from each reading.
#include <string>

#include "elements.hpp"
#include "layouts.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace {

namespace model = ptxk::model;
using contracts::Matrix;
using ptxk::Major;

constexpr int kColumns = 64;
constexpr uint32_t kImage = 96 * 1024;

struct alignas(1024) Storage {
  uint8_t bytes[kImage];
};

template <Major kMajor>
__global__ void __launch_bounds__(128) multiply(const uint4* image, const uint64_t* words, int cases, float* registers) {
  extern __shared__ uint8_t raw[];
  Storage& storage = ptxk::aligned_shared<Storage>(raw);
  for (uint32_t i = threadIdx.x; i < kImage / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(storage.bytes)[i] = image[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  const uint64_t start = ptxk::shared_address(&storage) >> 4;
  for (int one = 0; one < cases; ++one) {
    float d[kColumns / 2];
    for (float& value : d) {
      value = 0.f;
    }
    ptxk::wgmma_fence();
    ptxk::wgmma_m64k16<kColumns, ptxk::Input::bf16, Major::k, kMajor>(d, words[2 * one] + start, words[2 * one + 1] + start, 0);
    ptxk::wgmma_commit();
    ptxk::wgmma_wait<0>();
    ptxk::wgmma_settle(d);
    for (int i = 0; i < kColumns / 2; ++i) {
      registers[(one * 128 + threadIdx.x) * (kColumns / 2) + i] = d[i];
    }
  }
}

// Ways to read the base offset b: which line of 128 bytes counts as number 0 of the pattern.
struct Reading {
  const char* name;
  uint32_t (*line)(uint32_t line, uint32_t base);
};
constexpr Reading kReadings[] = {
    {"line_of_address", [](uint32_t line, uint32_t) { return line; }},
    {"line_minus_base", [](uint32_t line, uint32_t base) { return line - base; }},
    {"line_plus_base", [](uint32_t line, uint32_t base) { return line + base; }},
    {"line_xor_base", [](uint32_t line, uint32_t base) { return line ^ base; }},
};

// B as the model reads it, but for the lines of the pattern.
Matrix read_b(const contracts::Memory& memory, uint64_t word, model::Major major, const Reading& reading) {
  const model::Descriptor descriptor = model::decode(word);
  const uint32_t chunks = model::span(descriptor.swizzle) / 16;
  Matrix read{kColumns, 16};
  for (int n = 0; n < kColumns; ++n) {
    for (int k = 0; k < 16; ++k) {
      const uint32_t place = model::element_byte(descriptor, major, 2, n, k);
      const uint32_t address = model::swizzled(descriptor.swizzle, place);  // flipped twice: the address before the swizzle
      read.at(n, k) = memory.at(address ^ reading.line(address / 128, descriptor.base) % chunks * 16);
    }
  }
  return read;
}

template <Major kMajor>
void record(contracts::Checks& checks, const std::string& what, const contracts::Memory& memory, const std::vector<uint64_t>& words) {
  const int cases = static_cast<int>(words.size() / 2);
  const contracts::Device<uint8_t> image(memory.bytes());
  const contracts::Device<uint64_t> given(words);
  const contracts::Device<float> registers(static_cast<size_t>(cases) * 64 * kColumns);
  constexpr int kShared = ptxk::shared_bytes<Storage>;
  CUDA_MUST(ptxk::allow_shared(multiply<kMajor>, kShared));
  multiply<kMajor><<<1, 128, kShared>>>(reinterpret_cast<const uint4*>(image.get()), given.get(), cases, registers.get());
  CUDA_FINISH("multiply");
  const std::vector<float> got = registers.read();
  std::vector<std::pair<std::string, double>> figures = {{"cases", cases}};
  for (const Reading& reading : kReadings) {
    int differ = 0;
    for (int one = 0; one < cases; ++one) {
      const Matrix a = contracts::operand(memory, words[2 * one], model::Major::k, 64);
      contracts::Tally tally;
      contracts::compare(tally, contracts::product(a, read_b(memory, words[2 * one + 1], contracts::model_of(kMajor), reading)), 0,
                         &got[static_cast<size_t>(one) * 64 * kColumns], [] { return std::string(); });
      differ += tally.wrong() != 0;
    }
    figures.push_back({std::string("differ_from_") + reading.name, differ});
  }
  checks.measured("descriptor-strides", contracts::text("B %s %s", contracts::name_of(kMajor), what.c_str()), figures);
}

template <Major kMajor>
void swizzle_of(contracts::Checks& checks, const contracts::Memory& memory, ptxk::Swizzle swizzle, contracts::Random& random) {
  const contracts::Layout of_a = contracts::layout_of<Major::k>(ptxk::Swizzle::b128, 64);
  const contracts::Layout of_b = contracts::layout_of<kMajor>(swizzle, kColumns);
  const uint64_t a = ptxk::encode_descriptor(0, of_a.leading, of_a.stride, ptxk::Swizzle::b128);
  const auto given = [&](uint32_t start, uint32_t leading, uint32_t stride, uint32_t base) {
    return model::encode({start, leading, stride, base, contracts::model_of(swizzle)});
  };
  std::vector<uint64_t> chunks, lines, bases, strides;
  for (uint32_t line = 0; line < 8; ++line) {
    chunks.insert(chunks.end(), {a, given(8192 + 16 * line, of_b.leading, of_b.stride, 0)});
    lines.insert(lines.end(), {a, given(8192 + 128 * line, of_b.leading, of_b.stride, 0)});
    for (uint32_t base = 1; base < 8; ++base) {
      bases.insert(bases.end(), {a, given(8192 + 128 * line, of_b.leading, of_b.stride, base)});
    }
    strides.insert(strides.end(), {a, given(8192, of_b.leading, 16u * random.between(1, 255), 0)});
    strides.insert(strides.end(), {a, given(8192, 16u * random.between(1, 255), of_b.stride, 0)});
  }
  record<kMajor>(checks, contracts::text("%s: starts on chunks 0..7 of a line, base 0", contracts::name_of(swizzle)), memory, chunks);
  record<kMajor>(checks, contracts::text("%s: starts on lines 0..7 of the pattern, base 0", contracts::name_of(swizzle)), memory, lines);
  record<kMajor>(checks, contracts::text("%s: starts on lines 0..7, base 1..7", contracts::name_of(swizzle)), memory, bases);
  record<kMajor>(checks, contracts::text("%s: strides of any 16 bytes", contracts::name_of(swizzle)), memory, strides);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    contracts::Random random(77);
    const contracts::Memory memory(contracts::Type::bf16, kImage, random);
    for (const ptxk::Swizzle swizzle : contracts::kSwizzles) {
      swizzle_of<Major::k>(checks, memory, swizzle, random);
      swizzle_of<Major::mn>(checks, memory, swizzle, random);
    }
  }
  return checks.status();
}
