// wgmma as fast as it goes: on one SM, and on all of them until the clock falls to what the power allows.
#pragma once

#include "bounded.cuh"
#include "measuring.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace contracts {

enum class From { shared, registers };  // where A lies

template <int kN, int kWarpgroups>
struct alignas(1024) Operands {
  uint8_t a[kWarpgroups][64 * 128];
  uint8_t b[kN * 128];
};

constexpr uint32_t kZeros = 0;
constexpr uint32_t kNumbers = 0x80FF80FF;  // sign, mantissa and lowest bit of the exponent: bf16 of 0.5 to 2, both signs

// Operands whose bits outside of `random` are those of a half. With 0 all are zero.
template <typename Storage>
__device__ __forceinline__ void fill(Storage& shared, uint32_t random) {
  for (uint32_t i = threadIdx.x; i < sizeof(Storage) / 4; i += blockDim.x) {
    uint32_t word = (i + blockIdx.x * 0x9E3779B9u) * 0x85EBCA6Bu;
    word = (word ^ word >> 15) * 0xC2B2AE35u;
    reinterpret_cast<uint32_t*>(&shared)[i] = random ? ((word ^ word >> 13) & random) | 0x3F003F00u : 0;
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
}

// 64 x 64 by 64 x kN: four products, one group.
template <int kN, From kFrom, typename Storage>
__device__ __forceinline__ void multiply(float (&d)[kN / 2], const uint32_t (&a)[4], const Storage& shared, int accumulate) {
  using ptxk::Major;
  using ptxk::Swizzle;
  ptxk::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const uint64_t b = ptxk::make_descriptor<Swizzle::b128, Major::k, kN, 64>(shared.b, step);
    if constexpr (kFrom == From::registers) {
      ptxk::wgmma_m64k16_rs<kN, ptxk::Input::bf16>(d, a, b, accumulate | (step != 0));
    } else {
      ptxk::wgmma_m64k16<kN, ptxk::Input::bf16>(
          d, ptxk::make_descriptor<Swizzle::b128, Major::k, 64, 64>(shared.a[threadIdx.x / 128], step), b,
          accumulate | (step != 0));
    }
  }
  ptxk::wgmma_commit();
}

// Keeps the products alive.
template <int kCount>
__device__ __forceinline__ void use(const float (&d)[kCount], float* sink) {
  float sum = 0;
  for (const float one : d) {
    sum += one;
  }
  if (sum == 1e30f) {
    *sink = sum;
  }
}

constexpr int kProducts = 256;

// Every warpgroup multiplies again and again, without a wait between.
template <int kN, From kFrom, int kWarpgroups>
__global__ void __launch_bounds__(128 * kWarpgroups, 1) products(uint64_t* cycles, float* sink) {
  extern __shared__ uint8_t raw[];
  auto& shared = ptxk::aligned_shared<Operands<kN, kWarpgroups>>(raw);
  fill(shared, kZeros);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(shared.a[0]);
  const uint32_t a[4] = {words[threadIdx.x], words[threadIdx.x + 1], words[threadIdx.x + 2], words[threadIdx.x + 3]};
  float d[kN / 2] = {};
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < kProducts / 4; ++turn) {
    multiply<kN, kFrom>(d, a, shared, 1);
  }
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) {
    *cycles = end - start;
  }
  use(d, sink);
}

// Cycles of an SM that one product takes when `kWarpgroups` issue them at once.
template <int kN, From kFrom, int kWarpgroups>
double product_cycles() {
  constexpr int kBytes = ptxk::shared_bytes<Operands<kN, kWarpgroups>>;
  Device<uint64_t> cycles(1);
  Device<float> sink(1);
  const auto kernel = products<kN, kFrom, kWarpgroups>;
  CUDA_MUST(ptxk::allow_shared(kernel, kBytes));
  return least(cycles, [&] { kernel<<<1, 128 * kWarpgroups, kBytes>>>(cycles.get(), sink.get()); }) / (kProducts * kWarpgroups);
}

constexpr int kSamples = 256;
constexpr int kTurns = 2400;  // between two samples, of 1024 cycles each: about 1.4 ms

struct Sample {
  uint64_t cycles, ns;
};

// Two warpgroups an SM multiply numbers that toggle the wires, as a real product's do. Block 0 reads its clocks now and then.
__global__ void __launch_bounds__(256, 1) sustained(Sample* samples, float* sink) {
  extern __shared__ uint8_t raw[];
  auto& shared = ptxk::aligned_shared<Operands<256, 2>>(raw);
  fill(shared, kNumbers);
  const uint32_t unused[4] = {};
  float d[128] = {};
#pragma unroll 1
  for (int sample = 0; sample < kSamples; ++sample) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      samples[sample] = {static_cast<uint64_t>(clock64()), now_ns()};
    }
    __syncwarp();
#pragma unroll 1
    for (int turn = 0; turn < kTurns; ++turn) {
      multiply<256, From::shared>(d, unused, shared, turn % 32 != 0);  // sums over K = 2048, not over all turns
      ptxk::wgmma_wait<1>();
    }
    ptxk::wgmma_wait<0>();
    ptxk::wgmma_settle(d);
  }
  use(d, sink);
}

// MHz from sample `from` to sample `to`; 0 when no time passed.
inline double clock_mhz(const std::vector<Sample>& samples, int from, int to) {
  const double ns = static_cast<double>(samples[to].ns) - static_cast<double>(samples[from].ns);
  return ns > 0 ? 1e3 * static_cast<double>(samples[to].cycles - samples[from].cycles) / ns : 0;
}

inline std::vector<Sample> sustained_samples(unsigned blocks) {
  constexpr int kBytes = ptxk::shared_bytes<Operands<256, 2>>;
  Device<Sample> samples(kSamples);
  Device<float> sink(1);
  CUDA_MUST(ptxk::allow_shared(sustained, kBytes));
  sustained<<<blocks, 256, kBytes>>>(samples.get(), sink.get());
  CUDA_FINISH("sustained");
  return samples.read();
}

}  // namespace contracts
