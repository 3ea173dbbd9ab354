// Attention and its gradients by the definition, in double on the host.
#pragma once

#include <cuda_bf16.h>

#include <cmath>
#include <vector>

#include "gemm.hpp"

struct Attention {
  int heads, length;
  bool causal;
  double scale;
  static constexpr int kWidth = 128;
  std::vector<__nv_bfloat16> q, k, v, d_o;
  std::vector<double> o, lse, p, d_q, d_k, d_v, delta;

  Attention(int heads_, int length_, bool causal_, double scale_, contracts::Random& random)
      : heads(heads_), length(length_), causal(causal_), scale(scale_) {
    for (auto* tensor : {&q, &k, &v, &d_o}) {
      tensor->resize(static_cast<size_t>(heads) * length * kWidth);
      for (auto& x : *tensor) x = __float2bfloat16(random.between(-16, 16) / 16.0f);
    }
    o.resize(q.size());
    lse.resize(heads * length);
    p.resize(static_cast<size_t>(heads) * length * length);
    for (int row = 0; row < heads * length; ++row) forward(row);
  }

  double at(const std::vector<__nv_bfloat16>& tensor, int row, int i) const {
    return __bfloat162float(tensor[static_cast<size_t>(row) * kWidth + i]);
  }

  double dot(const std::vector<__nv_bfloat16>& x, int a, const std::vector<__nv_bfloat16>& y, int b) const {
    double sum = 0;
    for (int i = 0; i < kWidth; ++i) sum += at(x, a, i) * at(y, b, i);
    return sum;
  }

  void forward(int row) {
    const int first = row / length * length, seen = causal ? row - first + 1 : length;
    std::vector<double> s(seen);
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < seen; ++j) most = std::fmax(most, s[j] = scale * dot(q, row, k, first + j));
    for (int j = 0; j < seen; ++j) sum += std::exp(s[j] - most);
    lse[row] = most + std::log(sum);
    for (int j = 0; j < seen; ++j) {
      const double weight = p[static_cast<size_t>(row) * length + j] = std::exp(s[j] - lse[row]);
      for (int i = 0; i < kWidth; ++i) o[static_cast<size_t>(row) * kWidth + i] += weight * at(v, first + j, i);
    }
  }

  void backward() {
    for (auto* gradient : {&d_q, &d_k, &d_v}) gradient->assign(q.size(), 0);
    delta.assign(heads * length, 0);
    for (int row = 0; row < heads * length; ++row) {
      const int first = row / length * length;
      for (int i = 0; i < kWidth; ++i) delta[row] += at(d_o, row, i) * o[static_cast<size_t>(row) * kWidth + i];
      for (int j = 0; j < (causal ? row - first + 1 : length); ++j) {
        const double weight = p[static_cast<size_t>(row) * length + j];
        const double ds = weight * (dot(d_o, row, v, first + j) - delta[row]);
        for (int i = 0; i < kWidth; ++i) {
          const size_t mine = static_cast<size_t>(row) * kWidth + i, other = static_cast<size_t>(first + j) * kWidth + i;
          d_v[other] += weight * at(d_o, row, i);
          d_q[mine] += scale * ds * at(k, first + j, i);
          d_k[other] += scale * ds * at(q, row, i);
        }
      }
    }
  }
};

// Every element within `part` of the largest one: P and dS are rounded to bf16 on the way.
inline void compare(contracts::Tally& tally, const char* what, const Attention& of, const std::vector<double>& expected,
                    const std::vector<float>& got, double part) {
  double largest = 0;
  for (const double x : expected) largest = std::fmax(largest, std::fabs(x));
  for (size_t i = 0; i < expected.size(); ++i) {
    tally.holds(std::fabs(expected[i] - got[i]) <= part * largest, [&] {
      return contracts::text("%s, length %d%s, element %zu: expected %.6g, got %.6g (largest %.3g)", what, of.length,
                             of.causal ? " causal" : "", i, expected[i], static_cast<double>(got[i]), largest);
    });
  }
}

// One tile, two, an odd number, and tiles that are cut.
constexpr int kLengths[] = {128, 256, 384, 100, 300, 640};

template <typename Kernel, typename Shared, typename Problem>
void try_forward(contracts::Checks& checks, const char* schedule, Kernel kernel) {
  constexpr int kBytes = ptxk::shared_bytes<Shared>;
  CUDA_MUST(ptxk::allow_shared(kernel, kBytes));
  contracts::Random random(11);
  contracts::Tally outputs, sums;
  for (const int length : kLengths) {
    for (const bool causal : {false, true}) {
      const Attention of(2, length, causal, length == 256 ? 0.5 : 0.08838834764, random);
      const int rows = of.heads * length;
      const contracts::Device<__nv_bfloat16> q(of.q), k(of.k), v(of.v);
      contracts::Device<float> o(of.o.size()), lse(of.lse.size());
      const Problem problem{o.get(), lse.get(), length, static_cast<float>(of.scale), causal};
      kernel<<<dim3((length + 127) / 128, of.heads), 384, kBytes>>>(
          map_of<128>(q, rows, 128), map_of<128>(k, rows, 128), map_of<128>(v, rows, 128), problem);
      CUDA_FINISH("attention");
      compare(outputs, "O", of, of.o, o.read(), 0.01);
      compare(sums, "LSE", of, of.lse, lse.read(), 1e-4);
    }
  }
  checks.report(schedule, "O of one tile, two and more, whole and cut", outputs);
  checks.report(schedule, "LSE", sums);
}
