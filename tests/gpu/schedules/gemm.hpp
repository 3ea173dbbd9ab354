// A product of small integers, exact in float, for the kernels that multiply: C[M,N] = A[M,K] B[N,K]^T. Host only.
#pragma once

#include <cuda_bf16.h>

#include <vector>

#include "../contracts/driver.hpp"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/tensor_map.cuh"

struct Gemm {
  int m, n, k;
  std::vector<__nv_bfloat16> a, b;
  std::vector<float> expected;

  Gemm(int m_, int n_, int k_, contracts::Random& random) : m(m_), n(n_), k(k_), a(m * k), b(n * k), expected(m * n) {
    std::vector<int> left(a.size()), right(b.size());
    for (size_t i = 0; i < a.size(); ++i) a[i] = __float2bfloat16(static_cast<float>(left[i] = random.between(-3, 3)));
    for (size_t i = 0; i < b.size(); ++i) b[i] = __float2bfloat16(static_cast<float>(right[i] = random.between(-3, 3)));
    for (int row = 0; row < m; ++row) {
      for (int column = 0; column < n; ++column) {
        int sum = 0;
        for (int i = 0; i < k; ++i) sum += left[row * k + i] * right[column * k + i];
        expected[row * n + column] = static_cast<float>(sum);
      }
    }
  }
};

template <uint32_t kRows>
CUtensorMap map_of(const contracts::Device<__nv_bfloat16>& matrix, int rows, int columns) {
  CUtensorMap map{};
  const CUresult result = ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, ptxk::Swizzle::b128, 64, kRows>(
      &map, matrix.get(), {static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)}, {static_cast<uint64_t>(columns) * 2});
  if (result != CUDA_SUCCESS) {
    std::printf("{\"error\":\"no tensor map: %d\"}\n", static_cast<int>(result));
    std::exit(contracts::kBroken);
  }
  return map;
}

// K of one step, of fewer steps than stages, of as many and more, and cut: the loads fill zeros.
constexpr int kDepths[] = {64, 128, 256, 320, 1024, 8, 200};

// `launch(map_a, map_b, c, m, n, k)` starts the kernel; kRowsB is the height of B's boxes.
template <uint32_t kRowsB, typename Launch>
void try_gemm(contracts::Checks& checks, const char* schedule, const char* what, Launch launch) {
  contracts::Random random(7);
  contracts::Tally tally;
  for (const int k : kDepths) {
    const Gemm problem(256, 512, k, random);
    const contracts::Device<__nv_bfloat16> a(problem.a), b(problem.b);
    contracts::Device<float> c(problem.expected.size());
    launch(map_of<128>(a, problem.m, k), map_of<kRowsB>(b, problem.n, k), c.get(), problem.m, problem.n, k);
    CUDA_FINISH("gemm");
    const std::vector<float> got = c.read();
    for (size_t i = 0; i < got.size(); ++i) {
      tally.equal(problem.expected[i], got[i], [&] {
        return contracts::text("K %d, row %d, column %d", k, static_cast<int>(i) / problem.n, static_cast<int>(i) % problem.n);
      });
    }
  }
  checks.report(schedule, what, tally);
}
