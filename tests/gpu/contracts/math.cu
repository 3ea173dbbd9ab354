// Powers of two and the narrowing of accumulators, against arithmetic in double and rounding by definition (PTX ISA, "ex2", "cvt",
// "Alternate floating point data formats").
#include <cmath>
#include <limits>
#include <tuple>

#include "check.hpp"
#include "ptxk/sm90/math.cuh"

using contracts::Random;
using contracts::Tally;
using contracts::text;

namespace {

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// A small floating-point format by its definition: the finite values are m * 2^(e - bias - mantissa).
struct Format {
  const char* name;
  int mantissa;     // bits
  int exponent;     // bits
  bool infinities;  // else all ones is NaN and what is too large becomes the largest finite value

  int bias() const { return (1 << (exponent - 1)) - 1; }
  uint32_t sign_bit() const { return 1u << (mantissa + exponent); }
  uint32_t infinity() const { return ((1u << exponent) - 1) << mantissa; }
  uint32_t nan() const { return infinities ? infinity() | ((1u << mantissa) - 1) : (1u << (mantissa + exponent)) - 1; }
  uint32_t largest() const { return (infinities ? infinity() : nan()) - 1; }

  double value(uint32_t magnitude) const {
    const int e = static_cast<int>(magnitude >> mantissa);
    const int m = static_cast<int>(magnitude & ((1u << mantissa) - 1));
    return e == 0 ? std::ldexp(m, 1 - bias() - mantissa) : std::ldexp(m + (1 << mantissa), e - bias() - mantissa);
  }

  // To nearest, ties to even, by search: neighbours are neighbouring bit patterns.
  uint32_t rounded(float x) const {
    const uint32_t sign = std::signbit(x) ? sign_bit() : 0;
    const double magnitude = std::fabs(static_cast<double>(x));
    uint32_t low = 0, high = largest();
    if (magnitude >= value(high)) {
      const double step = value(high) - value(high - 1);
      const bool over = std::isinf(x) || magnitude >= value(high) + step / 2;  // the largest mantissa is odd: ties go up
      return sign | (infinities && over ? infinity() : high);
    }
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (value(middle) <= magnitude ? low : high) = middle;
    }
    const double below = magnitude - value(low), above = value(high) - magnitude;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
  }
};

constexpr Format kBf16{"bf16", 7, 8, true};
constexpr Format kF16{"f16", 10, 5, true};
constexpr Format kE4m3{"e4m3", 3, 4, false};

__global__ void pack(const float* low, const float* high, uint32_t* bf16, uint32_t* f16, uint16_t* e4m3, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    bf16[i] = ptxk::pack_bf16(low[i], high[i]);
    f16[i] = ptxk::pack_f16(low[i], high[i]);
    e4m3[i] = ptxk::pack_e4m3(low[i], high[i]);
  }
}

// Values of the format, the middles between them, and the floats next to the middles; then floats of any bits; then what is
// special.
std::vector<float> interesting(Random& random) {
  std::vector<float> all;
  for (const Format& format : {kBf16, kF16, kE4m3}) {
    for (uint32_t i = 0; i < format.largest(); i += format.mantissa > 3 ? random.between(1, 40) : 1) {
      const float middle = static_cast<float>((format.value(i) + format.value(i + 1)) / 2);
      for (const float x :
           {static_cast<float>(format.value(i)), middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e38f)}) {
        all.push_back(random.next() % 2 ? x : -x);
      }
    }
  }
  for (int i = 0; i < 1 << 16; ++i) {
    const float x = float_of(static_cast<uint32_t>(random.next()));
    all.push_back(std::isnan(x) ? 1.0f : x);
  }
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float x : {0.0f, -0.0f, inf, -inf, nan, 448.0f, 449.0f, 463.9f, 464.0f, 480.0f, 1e9f, -1e9f, 65504.0f, 65519.9f,
                        65520.0f, 3.3895314e38f, 3.4028235e38f, 1e-40f}) {
    all.push_back(x);
  }
  return all;
}

bool same(const Format& format, float x, uint32_t got) {
  if (std::isnan(x)) {
    const uint32_t magnitude = got & (format.sign_bit() - 1);
    return format.infinities ? magnitude > format.infinity() : magnitude == format.nan();
  }
  return got == format.rounded(x);
}

// What the host alone can say of the rounding by search: every finite value of a format rounds to itself.
void formats(contracts::Checks& checks) {
  Tally fixed;
  for (const Format& format : {kBf16, kF16, kE4m3}) {
    for (uint32_t i = 0; i <= format.largest(); ++i) {
      const float x = static_cast<float>(format.value(i));
      fixed.equal(i, format.rounded(x), [&] { return text("%s %u", format.name, i); });
    }
  }
  fixed.equal(448.0, kE4m3.value(kE4m3.largest()), [] { return text("largest e4m3"); });
  fixed.equal(65504.0, kF16.value(kF16.largest()), [] { return text("largest f16"); });
  checks.report("wgmma-fragment-a", "the model of narrow formats keeps their own values", fixed);
}

void packers(contracts::Checks& checks) {
  Random random(0x9ACC);
  const std::vector<float> low = interesting(random);
  std::vector<float> high(low.rbegin(), low.rend());
  const int count = static_cast<int>(low.size());
  const contracts::Device<float> given_low(low), given_high(high);
  contracts::Device<uint32_t> bf16(count), f16(count);
  contracts::Device<uint16_t> e4m3(count);
  pack<<<(count + 255) / 256, 256>>>(given_low.get(), given_high.get(), bf16.get(), f16.get(), e4m3.get(), count);
  CUDA_FINISH("pack");
  const std::vector<uint32_t> got_bf16 = bf16.read(), got_f16 = f16.read();
  const std::vector<uint16_t> got_e4m3 = e4m3.read();
  const auto compare = [&](const Format& format, const char* wrapper, auto word_at, int width) {
    Tally tally;
    const uint32_t mask = (1u << width) - 1;
    for (int i = 0; i < count; ++i) {
      const uint32_t word = word_at(i);
      for (const auto& [x, part, which] :
           {std::tuple{low[i], word & mask, "low"}, std::tuple{high[i], word >> width & mask, "high"}}) {
        tally.holds(same(format, x, part), [&, x = x, part = part, which = which] {
          return text("%s of %a (0x%08x): expected 0x%x, got 0x%x", which, static_cast<double>(x), bits_of(x), format.rounded(x),
                      part);
        });
      }
    }
    checks.report("wgmma-fragment-a", std::string(wrapper) + ": nearest, ties to even, both halves", tally);
  };
  compare(kBf16, "pack_bf16", [&](int i) { return got_bf16[i]; }, 16);
  compare(kF16, "pack_f16", [&](int i) { return got_f16[i]; }, 16);
  compare(kE4m3, "pack_e4m3, saturating", [&](int i) { return static_cast<uint32_t>(got_e4m3[i]); }, 8);
}

__global__ void power(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    y[i] = ptxk::exp2_fast(x[i]);
  }
}

__global__ void power_f16(uint32_t* y) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;  // every f16 in the lower half, its negative in the upper
  y[i] = ptxk::exp2_f16x2(i | (i ^ 0x8000u) << 16);
}

void powers(contracts::Checks& checks) {
  Random random(0xE82);
  std::vector<float> x;
  for (int i = -126 * 4096; i < 128 * 4096 - 1; ++i) {  // below 2^128 after rounding, too
    x.push_back((static_cast<float>(i) + static_cast<float>(random.next() % 4096) / 4096.0f) / 4096.0f);
  }
  for (int exponent = -149; exponent < 0; ++exponent) {
    x.push_back(std::ldexp(1.0f, exponent));
    x.push_back(-std::ldexp(1.0f, exponent));
  }
  const size_t regular = x.size();
  const float inf = std::numeric_limits<float>::infinity();
  const float special[][2] = {{-inf, 0.0f},  {inf, inf},  {0.0f, 1.0f},    {-0.0f, 1.0f},   {1.0f, 2.0f},  {-1.0f, 0.5f},
                              {128.0f, inf}, {1e9f, inf}, {-127.0f, 0.0f}, {-149.0f, 0.0f}, {-1e9f, 0.0f}, {1e-40f, 1.0f}};
  for (const auto& pair : special) {
    x.push_back(pair[0]);
  }
  const int count = static_cast<int>(x.size());
  const contracts::Device<float> given(x);
  contracts::Device<float> got(count);
  power<<<(count + 255) / 256, 256>>>(given.get(), got.get(), count);
  CUDA_FINISH("power");
  const std::vector<float> y = got.read();
  constexpr double kBound = 0x1p-22;  // PTX ISA, "ex2": largest relative error for .f32
  double worst = 0;
  Tally relative, specials;
  for (size_t i = 0; i < regular; ++i) {
    const double truth = std::exp2(static_cast<double>(x[i]));
    const double error = std::fabs(y[i] - truth) / truth;
    worst = error > worst ? error : worst;
    relative.holds(error <= kBound,
                   [&] { return text("2^%a: relative error 2^%.2f", static_cast<double>(x[i]), std::log2(error)); });
  }
  for (size_t i = regular; i < x.size(); ++i) {
    specials.equal(special[i - regular][1], y[i], [&] { return text("2^%g", static_cast<double>(x[i])); });
  }
  checks.report("exp2-scale", "exp2_fast from 2^-126 to 2^128: relative error at most 2^-22", relative,
                text("worst 2^%.3f", std::log2(worst)));
  checks.report("exp2-scale", "exp2_fast: infinities, exact powers, subnormal results are zero", specials);

  contracts::Device<uint32_t> halves(65536);
  power_f16<<<256, 256>>>(halves.get());
  CUDA_FINISH("power_f16");
  const std::vector<uint32_t> pairs = halves.read();
  constexpr double kBoundHalf = 0x1p-9;  // PTX ISA, "ex2": relative error 2^-9.9 for .f16; half a unit more for subnormal results
  double worst_half = 0;
  Tally half;
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint32_t given_bits[2] = {i, i ^ 0x8000u}, got_bits[2] = {pairs[i] & 0xFFFF, pairs[i] >> 16};
    for (int part = 0; part < 2; ++part) {
      const uint32_t magnitude = given_bits[part] & 0x7FFF;
      if (magnitude > kF16.infinity()) {
        half.holds((got_bits[part] & 0x7FFF) > kF16.infinity(),
                   [&] { return text("NaN 0x%04x gave 0x%04x", given_bits[part], got_bits[part]); });
        continue;
      }
      const double sign = given_bits[part] & 0x8000 ? -1.0 : 1.0;
      const double argument =
          magnitude == kF16.infinity() ? sign * std::numeric_limits<double>::infinity() : sign * kF16.value(magnitude);
      const double truth = std::exp2(argument);
      if (truth > 65504.0) {
        half.holds(got_bits[part] >= kF16.largest() - 1 && got_bits[part] <= kF16.infinity(),
                   [&] { return text("2^%g gave 0x%04x", argument, got_bits[part]); });
        continue;
      }
      const double error = std::fabs(kF16.value(got_bits[part] & 0x7FFF) - truth);
      if (truth >= 0x1p-14) {
        worst_half = error / truth > worst_half ? error / truth : worst_half;
      }
      half.holds(error <= truth * kBoundHalf + 0x1p-24,
                 [&] { return text("2^%g: got 0x%04x, error %g", argument, got_bits[part], error); });
    }
  }
  checks.report("exp2-scale", "exp2_f16x2 for every f16: relative error at most 2^-9 and one subnormal step", half,
                text("worst 2^%.3f among normal results", std::log2(worst_half)));
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  formats(checks);
  if (checks.on_device()) {
    packers(checks);
    powers(checks);
  }
  return checks.status();
}
