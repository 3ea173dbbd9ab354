// A from registers: every type, where the model of the fragment puts each element; the narrowing that fills it; and a product whose
// result is the next one's A.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cmath>

#include "wgmma_forms.cuh"
#include "ptxk/sm90/math.cuh"
#include "ptxk/sm90/wgmma_instances.cuh"

namespace {

using contracts::Matrix;
using ptxk::Major;
using ptxk::Swizzle;

// Low and high of a pair, as f32; what each of the three packs them to.
__global__ void narrow(const float* values, int pairs, uint32_t* packed) {
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float low = values[2 * i], high = values[2 * i + 1];
    packed[3 * i] = ptxk::pack_bf16(low, high);
    packed[3 * i + 1] = ptxk::pack_f16(low, high);
    packed[3 * i + 2] = ptxk::pack_e4m3(low, high);
  }
}

uint32_t bits_of(__nv_bfloat16 value) { return __nv_bfloat16_raw(value).x; }
uint32_t bits_of(__half value) { return __half_raw(value).x; }

void check_narrowing(contracts::Checks& checks) {
  contracts::Random random(3);
  std::vector<float> values = {0.f, -0.f, 1.f, -1.f, 448.f, 449.f, -1000.f, 464.f, 65504.f, 65520.f, 1e-8f, 1.00390625f, 0.001953125f, 1e30f};
  for (int i = 0; i < 4000; ++i) {
    const int exponent = random.between(-12, 12);
    values.push_back(std::ldexp(static_cast<float>(random.between(-65536, 65536)) / 65536.f, exponent));
  }
  const int pairs = static_cast<int>(values.size() / 2);
  const contracts::Device<float> given(values);
  const contracts::Device<uint32_t> packed(static_cast<size_t>(pairs) * 3);
  narrow<<<1, 256>>>(given.get(), pairs, packed.get());
  CUDA_FINISH("narrow");
  const std::vector<uint32_t> got = packed.read();
  contracts::Tally bf16, f16, e4m3;
  for (int i = 0; i < pairs; ++i) {
    const float low = values[2 * i], high = values[2 * i + 1];
    const auto where = [&] { return contracts::text("pair of %.9g and %.9g", low, high); };
    bf16.equal(bits_of(__float2bfloat16_rn(low)) | bits_of(__float2bfloat16_rn(high)) << 16, got[3 * i], where);
    f16.equal(bits_of(__float2half_rn(low)) | bits_of(__float2half_rn(high)) << 16, got[3 * i + 1], where);
    e4m3.equal(__nv_cvt_float_to_fp8(low, __NV_SATFINITE, __NV_E4M3) |
                   static_cast<uint32_t>(__nv_cvt_float_to_fp8(high, __NV_SATFINITE, __NV_E4M3)) << 8,
               got[3 * i + 2], where);
  }
  checks.report("wgmma-fragment-a", "pack_bf16 rounds to nearest, the first in the lower half", bf16);
  checks.report("wgmma-fragment-a", "pack_f16 rounds to nearest, the first in the lower half", f16);
  checks.report("wgmma-fragment-a", "pack_e4m3 rounds to nearest and saturates, the first in the lower byte", e4m3);
}

constexpr uint32_t kTile = 64 * 64 * 2;

struct alignas(1024) Tiles {
  uint8_t q[kTile];  // 64 x 64, K-major
  uint8_t k[kTile];  // 64 x 64, K-major
  uint8_t v[kTile];  // 64 of N by 64 of K, MN-major
};

// D = (Q K^T) V with the first product narrowed in registers.
__global__ void __launch_bounds__(128) chain(const uint4* tiles, float* registers) {
  extern __shared__ uint8_t raw[];
  Tiles& shared = ptxk::aligned_shared<Tiles>(raw);
  for (uint32_t i = threadIdx.x; i < sizeof(Tiles) / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(&shared)[i] = tiles[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  float p[32], d[32];
  ptxk::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    ptxk::wgmma_m64n64k16_bf16(p, ptxk::make_descriptor<Swizzle::b128, Major::k, 64, 64>(shared.q, step),
                               ptxk::make_descriptor<Swizzle::b128, Major::k, 64, 64>(shared.k, step), step != 0);
  }
  ptxk::wgmma_commit();
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(p);
  uint32_t a[4][4];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    a[i / 4][i % 4] = ptxk::pack_bf16(p[2 * i], p[2 * i + 1]);
  }
  ptxk::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    ptxk::wgmma_m64n64k16_bf16_rs<Major::mn>(d, a[step], ptxk::make_descriptor<Swizzle::b128, Major::mn, 64, 64>(shared.v, step),
                                             step != 0);
  }
  ptxk::wgmma_commit();
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  for (int i = 0; i < 32; ++i) {
    registers[threadIdx.x * 32 + i] = d[i];
  }
}

void check_chain(contracts::Checks& checks) {
  contracts::Random random(9);
  contracts::Memory memory(contracts::Type::bf16, sizeof(Tiles));
  const Matrix q = contracts::random_matrix(64, 64, 1, random), k = contracts::random_matrix(64, 64, 1, random);
  const Matrix v = contracts::random_matrix(64, 64, 3, random);
  for (int mn = 0; mn < 64; ++mn) {
    for (int depth = 0; depth < 64; ++depth) {
      memory.set(contracts::boxed_byte(Swizzle::b128, Major::k, kTile, mn, depth), q.at(mn, depth));
      memory.set(kTile + contracts::boxed_byte(Swizzle::b128, Major::k, kTile, mn, depth), k.at(mn, depth));
      memory.set(2 * kTile + contracts::boxed_byte(Swizzle::b128, Major::mn, kTile, mn, depth), v.at(mn, depth));
    }
  }
  const contracts::Device<uint8_t> image(memory.bytes());
  const contracts::Device<float> registers(64 * 64);
  constexpr int kShared = ptxk::shared_bytes<Tiles>;
  CUDA_MUST(ptxk::allow_shared(chain, kShared));
  chain<<<1, 128, kShared>>>(reinterpret_cast<const uint4*>(image.get()), registers.get());
  CUDA_FINISH("chain");
  contracts::Tally tally;
  contracts::compare(tally, contracts::product(contracts::product(q, k), v), 0, registers.read().data(), [] { return std::string("chain"); });
  checks.report("wgmma-fragment-a", "a product's D, narrowed pair by pair, is the next one's A", tally);
}

// The header's functions of thread and register against the model's maps, which the device is held against.
void model(contracts::Checks& checks) {
  contracts::Tally of_d, of_a;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 256; ++column) {
      const ptxk::model::Register at = ptxk::model::accumulator({row, column});
      const auto where = [&] { return contracts::text("element %d, %d", row, column); };
      of_d.equal(row, ptxk::d_row(at.thread, at.index), where);
      of_d.equal(column, ptxk::d_column(at.thread, at.index), where);
    }
    for (int k = 0; k < 32; k += 4) {
      const ptxk::model::Register bytes = ptxk::model::operand_a({row, k}, 1), halves = ptxk::model::operand_a({row, k / 2}, 2);
      const auto where = [&] { return contracts::text("row %d, byte %d of K", row, k); };
      of_a.equal(row, ptxk::a_row(bytes.thread, bytes.index / 4), where);
      of_a.equal(k, ptxk::a_column<1>(bytes.thread, bytes.index / 4), where);
      of_a.equal(row, ptxk::a_row(halves.thread, halves.index / 2), where);
      of_a.equal(k / 2, ptxk::a_column<2>(halves.thread, halves.index / 2), where);
      const ptxk::model::Register word = ptxk::model::operand_a({row, k / 4}, 4);
      of_a.equal(row, ptxk::a_row(word.thread, word.index), where);
      of_a.equal(k / 4, ptxk::a_column<4>(word.thread, word.index), where);
    }
  }
  checks.report("wgmma-accumulator", "d_row and d_column say where the model puts each element", of_d);
  checks.report("wgmma-fragment-a", "a_row and a_column say where the model puts each word", of_a);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  model(checks);
  if (checks.on_device()) {
    contracts::check_forms<true>(checks, "wgmma-fragment-a", std::make_integer_sequence<int, contracts::kFormCount>());
    check_narrowing(checks);
    check_chain(checks);
  }
  return checks.status();
}
