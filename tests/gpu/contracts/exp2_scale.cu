// exp(scale * (s - m)) by powers of two, as a softmax needs it: the scale on both sides of the difference, and what comes out where
// it stands on one, where log2(e) was forgotten, and where a row is masked throughout.
#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "ptxk/sm90/math.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kRows = 256;
constexpr int kColumns = 64;
constexpr float kScale = 0.125f;
constexpr double kOff = 0.01;  // relative: what is further off is wrong by any tolerance

enum Form { kBothSides, kOneSide, kNoLog };

__global__ void powers(const float* s, const float* m, float* p, Form form) {
  const int i = blockIdx.x * kColumns + threadIdx.x;
  const float c = kScale * 1.4426950408889634f;
  const float largest = m[blockIdx.x];
  p[i] = form == kBothSides ? ptxk::exp2_fast(s[i] * c - largest * c)
         : form == kOneSide ? ptxk::exp2_fast(s[i] * c - largest)
                            : ptxk::exp2_fast(s[i] * kScale - largest * kScale);
}

std::vector<float> made(const std::vector<float>& s, const std::vector<float>& m, Form form) {
  const contracts::Device<float> given(s), largest(m);
  contracts::Device<float> p(s.size());
  powers<<<static_cast<int>(m.size()), kColumns>>>(given.get(), largest.get(), p.get(), form);
  CUDA_FINISH("powers");
  return p.read();
}

void check(contracts::Checks& checks) {
  contracts::Random random(0x5CA1E);
  std::vector<float> s(kRows * kColumns), m(kRows);
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kColumns; ++i) {
      s[row * kColumns + i] = static_cast<float>(random.between(-400, 400)) / 8.0f;
    }
    m[row] = *std::max_element(&s[row * kColumns], &s[row * kColumns] + kColumns);
  }
  const auto error_of = [&](const std::vector<float>& p, int i) {
    const double truth = std::exp(static_cast<double>(kScale) * (static_cast<double>(s[i]) - m[i / kColumns]));
    return std::fabs(p[i] - truth) / truth;
  };
  const std::vector<float> right = made(s, m, kBothSides);
  constexpr double kBound = 0x1p-18;  // that of ex2, and the rounding of two products of up to 2^5
  double worst = 0;
  Tally close;
  for (int i = 0; i < kRows * kColumns; ++i) {
    const double error = error_of(right, i);
    worst = std::max(worst, error);
    close.holds(error <= kBound,
                [&] { return text("s %g, m %g: relative error 2^%.2f", s[i], m[i / kColumns], std::log2(error)); });
  }
  checks.report("exp2-scale", "exp(scale * (s - m)) with the scale on both sides: relative error at most 2^-18", close,
                text("worst 2^%.2f", std::log2(worst)));
  for (const auto& [form, name] : {std::pair{kOneSide, "the scale on one side only"}, std::pair{kNoLog, "log2(e) forgotten"}}) {
    const std::vector<float> p = made(s, m, form);
    Tally rows;
    int off = 0;
    for (int row = 0; row < kRows; ++row) {
      int here = 0;
      for (int i = 0; i < kColumns; ++i) {
        here += error_of(p, row * kColumns + i) > kOff;
      }
      off += here;
      rows.holds(here > 0, [&] { return text("row %d is right", row); });
    }
    checks.report("exp2-scale", text("%s: wrong in every row", name), rows,
                  text("%d of %d off by more than a hundredth", off, kRows * kColumns));
  }
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> masked(kColumns, -inf);
  Tally none;
  for (const float p : made(masked, {-inf}, kBothSides)) {
    none.holds(std::isnan(p), [&] { return text("m = -inf gave %g", p); });
  }
  for (const float p : made(masked, {0.0f}, kBothSides)) {
    none.equal(0.0f, p, [] { return text("m = 0"); });
  }
  checks.report("exp2-scale", "a row masked throughout: NaN with m = -inf, zeros with m = 0", none);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
