// The order of fence, products, commit and wait: groups in flight together, sums carried from group to group, registers changed in
// between, and shared memory rewritten by ordinary stores round after round.
#include "elements.hpp"
#include "layouts.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace {

using contracts::Matrix;
using ptxk::Major;
using ptxk::Swizzle;

constexpr int kColumns = 128;
constexpr int kDepth = 64;
constexpr int kTiles = 4;    // of A and of B
constexpr int kRounds = 64;  // per launch

struct alignas(1024) Tiles {
  uint8_t a[kTiles][64 * kDepth * 2];
  uint8_t b[kTiles][kColumns * kDepth * 2];
};

__device__ __forceinline__ void load(Tiles& tiles, const uint4* memory) {
  for (uint32_t i = threadIdx.x; i < sizeof(Tiles) / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(&tiles)[i] = memory[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
}

__device__ __forceinline__ void multiply(float (&d)[kColumns / 2], const Tiles& tiles, int a, int b, int accumulate) {
#pragma unroll
  for (int step = 0; step < kDepth / 16; ++step) {
    ptxk::wgmma_m64k16<kColumns, ptxk::Input::bf16>(
        d, ptxk::make_descriptor<Swizzle::b128, Major::k, 64, kDepth>(tiles.a[a], step),
        ptxk::make_descriptor<Swizzle::b128, Major::k, kColumns, kDepth>(tiles.b[b], step), accumulate | (step != 0));
  }
}

__device__ __forceinline__ void store(float* to, const float (&d)[kColumns / 2]) {
  for (int i = 0; i < kColumns / 2; ++i) {
    to[threadIdx.x * (kColumns / 2) + i] = d[i];
  }
}

// Two groups in flight; the older one's sums are stored while the younger one runs. Round r multiplies tile r % 4 of A with r % 4 of B.
__global__ void __launch_bounds__(128) two_in_flight(const uint4* memory, float* registers) {
  extern __shared__ uint8_t raw[];
  Tiles& tiles = ptxk::aligned_shared<Tiles>(raw);
  load(tiles, memory);
  for (int round = 0; round < kRounds; round += 2) {
    float even[kColumns / 2], odd[kColumns / 2];
    ptxk::wgmma_fence();
    multiply(even, tiles, round % kTiles, round % kTiles, 0);
    ptxk::wgmma_commit();
    multiply(odd, tiles, (round + 1) % kTiles, (round + 1) % kTiles, 0);
    ptxk::wgmma_commit();
    ptxk::wgmma_wait<1>();
    ptxk::wgmma_settle(even);
    store(registers + round * 64 * kColumns, even);
    ptxk::wgmma_wait<0>();
    ptxk::wgmma_settle(odd);
    store(registers + (round + 1) * 64 * kColumns, odd);
  }
}

// One sum over `rounds` groups, of which one is always left in flight.
__global__ void __launch_bounds__(128) carried(const uint4* memory, int rounds, float* registers) {
  extern __shared__ uint8_t raw[];
  Tiles& tiles = ptxk::aligned_shared<Tiles>(raw);
  load(tiles, memory);
  float d[kColumns / 2];
  for (int round = 0; round < rounds; ++round) {
    ptxk::wgmma_fence();
    multiply(d, tiles, round % kTiles, round % kTiles, round != 0);
    ptxk::wgmma_commit();
    ptxk::wgmma_wait<1>();
  }
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  store(registers, d);
}

// d = -d / 2 + A * B, the halving by ordinary code between wait and fence: the first product is doubled, so that all is exact.
__global__ void __launch_bounds__(128) rescaled(const uint4* memory, float* registers) {
  extern __shared__ uint8_t raw[];
  Tiles& tiles = ptxk::aligned_shared<Tiles>(raw);
  load(tiles, memory);
  float d[kColumns / 2];
  ptxk::wgmma_fence();
  multiply(d, tiles, 0, 0, 0);
  ptxk::wgmma_commit();
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  for (float& value : d) {
    value *= -0.5f;
  }
  ptxk::wgmma_fence();
  multiply(d, tiles, 1, 1, 1);
  ptxk::wgmma_commit();
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  store(registers, d);
}

// Each round the threads write other tiles over the old ones, fence, meet and multiply. Counts the rounds whose sums are not those of
// the same product with all tiles in place, which `two_in_flight` left in `expected`.
__global__ void __launch_bounds__(128) rewritten(const uint4* memory, const float* expected, int rounds, uint32_t* wrong) {
  extern __shared__ uint8_t raw[];
  Tiles& tiles = ptxk::aligned_shared<Tiles>(raw);
  const Tiles& source = *reinterpret_cast<const Tiles*>(memory);
  for (int round = 0; round < rounds; ++round) {
    const int tile = round % kTiles;
    for (uint32_t i = threadIdx.x; i < sizeof(tiles.a[0]) / 16; i += blockDim.x) {
      reinterpret_cast<uint4*>(tiles.a[0])[i] = reinterpret_cast<const uint4*>(source.a[tile])[i];
    }
    for (uint32_t i = threadIdx.x; i < sizeof(tiles.b[0]) / 16; i += blockDim.x) {
      reinterpret_cast<uint4*>(tiles.b[0])[i] = reinterpret_cast<const uint4*>(source.b[tile])[i];
    }
    ptxk::fence_proxy_async_shared();
    __syncthreads();
    float d[kColumns / 2];
    ptxk::wgmma_fence();
    multiply(d, tiles, 0, 0, 0);
    ptxk::wgmma_commit();
    ptxk::wgmma_wait<0>();
    ptxk::wgmma_settle(d);
    bool same = true;
    for (int i = 0; i < kColumns / 2; ++i) {
      same &= d[i] == expected[tile * 64 * kColumns + threadIdx.x * (kColumns / 2) + i];
    }
    if (__syncthreads_or(!same) && threadIdx.x == 0) {
      atomicAdd(wrong, 1u);
    }
  }
}

void check(contracts::Checks& checks) {
  contracts::Random random(41);
  contracts::Memory memory(contracts::Type::bf16, sizeof(Tiles));
  std::vector<Matrix> products;
  for (int tile = 0; tile < kTiles; ++tile) {
    const Matrix a = contracts::random_matrix(64, kDepth, 2, random), b = contracts::random_matrix(kColumns, kDepth, 2, random);
    for (int depth = 0; depth < kDepth; ++depth) {
      for (int m = 0; m < 64; ++m) {
        memory.set(tile * sizeof(Tiles::a[0]) + contracts::boxed_byte(Swizzle::b128, Major::k, 0, m, depth), a.at(m, depth));
      }
      for (int n = 0; n < kColumns; ++n) {
        memory.set(offsetof(Tiles, b) + tile * sizeof(Tiles::b[0]) + contracts::boxed_byte(Swizzle::b128, Major::k, 0, n, depth),
                   b.at(n, depth));
      }
    }
    products.push_back(contracts::product(a, b));
  }
  const contracts::Device<uint8_t> image(memory.bytes());
  const auto* given = reinterpret_cast<const uint4*>(image.get());
  constexpr int kShared = ptxk::shared_bytes<Tiles>;
  CUDA_MUST(ptxk::allow_shared(two_in_flight, kShared));
  CUDA_MUST(ptxk::allow_shared(carried, kShared));
  CUDA_MUST(ptxk::allow_shared(rescaled, kShared));
  CUDA_MUST(ptxk::allow_shared(rewritten, kShared));

  const contracts::Device<float> rounds(static_cast<size_t>(kRounds) * 64 * kColumns);
  two_in_flight<<<1, 128, kShared>>>(given, rounds.get());
  CUDA_FINISH("two_in_flight");
  std::vector<float> got = rounds.read();
  contracts::Tally in_flight;
  for (int round = 0; round < kRounds; ++round) {
    contracts::compare(in_flight, products[round % kTiles], 0, &got[static_cast<size_t>(round) * 64 * kColumns],
                       [&] { return contracts::text("round %d", round); });
  }
  checks.report("wgmma-protocol", "wait<1> leaves the younger group in flight and the older one's sums valid", in_flight);
  checks.report("wgmma-accumulator", "two accumulators in flight in turns, each read after its wait", in_flight);

  contracts::Tally sums;
  contracts::Device<float> registers(64 * kColumns);
  for (const int count : {1, 2, 7}) {
    registers.poison();
    carried<<<1, 128, kShared>>>(given, count, registers.get());
    CUDA_FINISH("carried");
    Matrix sum{64, kColumns};
    for (int round = 0; round < count; ++round) {
      for (size_t i = 0; i < sum.values.size(); ++i) {
        sum.values[i] += products[round % kTiles].values[i];
      }
    }
    contracts::compare(sums, sum, 0, registers.read().data(), [&] { return contracts::text("%d groups", count); });
  }
  checks.report("wgmma-protocol", "sums carried over 1, 2 and 7 groups", sums);

  contracts::Tally scaled;
  registers.poison();
  rescaled<<<1, 128, kShared>>>(given, registers.get());
  CUDA_FINISH("rescaled");
  got = registers.read();
  for (float& value : got) {
    value *= 2;
  }
  Matrix twice{64, kColumns};
  for (size_t i = 0; i < twice.values.size(); ++i) {
    twice.values[i] = 2 * products[1].values[i] - products[0].values[i];
  }
  contracts::compare(scaled, twice, 0, got.data(), [] { return std::string("twice the sum"); });
  checks.report("wgmma-accumulator", "sums that ordinary code rescaled between wait and fence are added to", scaled);

  constexpr int kRewrites = 400;
  constexpr int kBlocks = 132;
  contracts::Device<uint32_t> wrong(std::vector<uint32_t>{0});
  rewritten<<<kBlocks, 128, kShared>>>(given, rounds.get(), kRewrites, wrong.get());
  CUDA_FINISH("rewritten");
  checks.report("fence-proxy-async", "tiles rewritten by ordinary stores, fenced by every writer, multiplied: rounds", kRewrites * kBlocks,
                wrong.read()[0]);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
