// ldmatrix and stmatrix: which lane's address is which row's, which register holds which element; and an accumulator stored into a
// swizzled box that the next wgmma reads.
#include <algorithm>

#include "elements.hpp"
#include "layouts.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/math.cuh"
#include "ptxk/sm90/matrix.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace {

namespace model = ptxk::model;
using contracts::Matrix;
using ptxk::Major;
using ptxk::Swizzle;

constexpr int kWords = 2048;  // 4-byte words of memory; a row is 4 of them

// Lane `l` gives the address of row rows[l].
__global__ void load(const uint32_t* memory, const uint32_t* rows, bool transposed, uint32_t* registers) {
  __shared__ alignas(16) uint32_t words[kWords];
  for (int i = threadIdx.x; i < kWords; i += 32) {
    words[i] = memory[i];
  }
  __syncwarp();
  uint32_t r[4];
  const uint32_t from = ptxk::shared_address(words) + 16 * rows[threadIdx.x];
  if (transposed) {
    ptxk::ldmatrix_x4_trans(r, from);
  } else {
    ptxk::ldmatrix_x4(r, from);
  }
  for (int i = 0; i < 4; ++i) {
    registers[threadIdx.x * 4 + i] = r[i];
  }
}

enum class Store { x4, x4_trans, x2 };

__global__ void store(const uint32_t* registers, const uint32_t* rows, Store how, uint32_t* memory) {
  __shared__ alignas(16) uint32_t words[kWords];
  for (int i = threadIdx.x; i < kWords; i += 32) {
    words[i] = memory[i];
  }
  __syncwarp();
  const uint32_t* r = registers + threadIdx.x * 4;
  const uint32_t to = ptxk::shared_address(words) + 16 * rows[threadIdx.x];
  if (how == Store::x4) {
    ptxk::stmatrix_x4(to, r[0], r[1], r[2], r[3]);
  } else if (how == Store::x4_trans) {
    ptxk::stmatrix_x4_trans(to, r[0], r[1], r[2], r[3]);
  } else {
    ptxk::stmatrix_x2(to, r[0], r[1]);
  }
  __syncwarp();
  for (int i = threadIdx.x; i < kWords; i += 32) {
    memory[i] = words[i];
  }
}

uint32_t half_of(uint32_t word, int index) { return word >> 16 * index & 0xFFFF; }

// 32 different rows, in no order.
std::vector<uint32_t> any_rows(contracts::Random& random) {
  std::vector<uint32_t> all(kWords / 4);
  for (uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  for (uint32_t i = 0; i < 32; ++i) {
    std::swap(all[i], all[random.between(static_cast<int>(i), static_cast<int>(all.size()) - 1)]);
  }
  all.resize(32);
  return all;
}

std::vector<uint32_t> any_words(int count, contracts::Random& random) {
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(random.next());
  }
  return words;
}

void check_lanes(contracts::Checks& checks) {
  contracts::Random random(5);
  contracts::Tally loads[2], stores[3];
  for (int round = 0; round < 8; ++round) {
    const std::vector<uint32_t> words = any_words(kWords, random), rows = any_rows(random), held = any_words(128, random);
    const contracts::Device<uint32_t> memory(words), places(rows), given(held);
    contracts::Device<uint32_t> registers(128);
    for (const bool transposed : {false, true}) {
      registers.poison();
      load<<<1, 32>>>(memory.get(), places.get(), transposed, registers.get());
      CUDA_FINISH("load");
      const std::vector<uint32_t> got = registers.read();
      for (int i = 0; i < 4 * 64; ++i) {
        const int matrix = i / 64, row = i / 8 % 8, column = i % 8;
        const model::Register at = transposed ? model::matrix({column, row}) : model::matrix({row, column});
        loads[transposed].equal(half_of(words[rows[8 * matrix + row] * 4 + column / 2], column % 2),
                                half_of(got[at.thread * 4 + matrix], at.index), [&] {
                                  return contracts::text("matrix %d, row %d, column %d in lane %d", matrix, row, column, at.thread);
                                });
      }
    }
    for (const Store how : {Store::x4, Store::x4_trans, Store::x2}) {
      contracts::Device<uint32_t> target(words);
      store<<<1, 32>>>(given.get(), places.get(), how, target.get());
      CUDA_FINISH("store");
      const std::vector<uint32_t> got = target.read();
      std::vector<uint32_t> expected = words;
      for (int matrix = 0; matrix < (how == Store::x2 ? 2 : 4); ++matrix) {
        for (int row = 0; row < 8; ++row) {
          for (int column = 0; column < 8; ++column) {
            const model::Register at = how == Store::x4_trans ? model::matrix({column, row}) : model::matrix({row, column});
            uint32_t& word = expected[rows[8 * matrix + row] * 4 + column / 2];
            word = (word & ~(0xFFFFu << 16 * (column % 2))) | half_of(held[at.thread * 4 + matrix], at.index) << 16 * (column % 2);
          }
        }
      }
      for (int i = 0; i < kWords; ++i) {
        stores[static_cast<int>(how)].equal(expected[i], got[i], [&] { return contracts::text("row %d, word %d", i / 4, i % 4); });
      }
    }
  }
  checks.report("matrix-lanes", "ldmatrix_x4: rows from any places", loads[0]);
  checks.report("matrix-lanes", "ldmatrix_x4_trans: rows from any places", loads[1]);
  checks.report("matrix-lanes", "stmatrix_x4: rows to any places, nothing beside them written", stores[0]);
  checks.report("matrix-lanes", "stmatrix_x4_trans: rows to any places, nothing beside them written", stores[1]);
  checks.report("matrix-lanes", "stmatrix_x2: addresses of lanes 0 to 15, nothing beside the rows written", stores[2]);
}

constexpr uint32_t kBox = 64 * 128;

struct alignas(1024) Boxes {
  uint8_t a[kBox];
  uint8_t b[kBox];
};

// Stores an accumulator of 64 x 64 as bf16 into a box of the 128-byte swizzle, shows the box, and multiplies it by B (64 x 64, K-major).
__global__ void __launch_bounds__(128) store_and_multiply(const float* sums, const uint4* b, uint4* box_seen, float* registers) {
  __shared__ Boxes boxes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[32];
  for (int i = 0; i < 32; ++i) {
    d[i] = sums[threadIdx.x * 32 + i];
  }
  for (uint32_t i = threadIdx.x; i < kBox / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(boxes.b)[i] = b[i];
  }
  const uint32_t box = ptxk::shared_address(boxes.a);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    ptxk::stmatrix_x4(ptxk::swizzled_128(box, warp % 4 * 16 + lane % 16, 2 * j + lane / 16),
                      ptxk::pack_bf16(d[8 * j], d[8 * j + 1]), ptxk::pack_bf16(d[8 * j + 2], d[8 * j + 3]),
                      ptxk::pack_bf16(d[8 * j + 4], d[8 * j + 5]), ptxk::pack_bf16(d[8 * j + 6], d[8 * j + 7]));
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kBox / 16; i += blockDim.x) {
    box_seen[i] = reinterpret_cast<const uint4*>(boxes.a)[i];
  }
  float next[32];
  ptxk::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    ptxk::wgmma_m64k16<64, ptxk::Input::bf16>(next, ptxk::make_descriptor<Swizzle::b128, Major::k, 64, 64>(boxes.a, step),
                                              ptxk::make_descriptor<Swizzle::b128, Major::k, 64, 64>(boxes.b, step), step != 0);
  }
  ptxk::wgmma_commit();
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(next);
  for (int i = 0; i < 32; ++i) {
    registers[threadIdx.x * 32 + i] = next[i];
  }
}

void check_box(contracts::Checks& checks) {
  contracts::Random random(6);
  const Matrix a = contracts::random_matrix(64, 64, 120, random), b = contracts::random_matrix(64, 64, 3, random);
  contracts::Memory box_of_b(contracts::Type::bf16, kBox), box_of_a(contracts::Type::bf16, kBox);
  std::vector<float> sums(64 * 64);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column) {
      const model::Register at = model::accumulator({row, column});
      sums[at.thread * 32 + at.index] = static_cast<float>(a.at(row, column));
      box_of_a.set(model::box_byte(model::Swizzle::b128, 128, row, 2 * column), a.at(row, column));
      box_of_b.set(model::box_byte(model::Swizzle::b128, 128, row, 2 * column), b.at(row, column));
    }
  }
  const contracts::Device<float> given(sums), registers(64 * 64);
  const contracts::Device<uint8_t> other(box_of_b.bytes()), seen(kBox);
  store_and_multiply<<<1, 128>>>(given.get(), reinterpret_cast<const uint4*>(other.get()), reinterpret_cast<uint4*>(seen.get()),
                                 registers.get());
  CUDA_FINISH("store_and_multiply");
  const std::vector<uint8_t> got = seen.read();
  contracts::Tally box, next;
  for (uint32_t i = 0; i < kBox; ++i) {
    box.equal(box_of_a.bytes()[i], got[i], [&] { return contracts::text("row %u, byte %u of the box", i / 128, i % 128); });
  }
  contracts::compare(next, contracts::product(a, b), 0, registers.read().data(), [] { return std::string("product"); });
  checks.report("matrix-lanes", "an accumulator stored into a 128B box lies where TMA would have put it", box);
  checks.report("swizzle-chunks", "what was stored by swizzled_128 is what a descriptor of the 128B swizzle reads", next);
}

// The chunk formulas of texts against the model of the address bits.
void check_formulas(contracts::Checks& checks) {
  contracts::Tally formulas;
  for (uint32_t row = 0; row < 256; ++row) {
    for (uint32_t chunk = 0; chunk < 8; ++chunk) {
      const auto where = [&] { return contracts::text("row %u, chunk %u", row, chunk); };
      formulas.equal(model::box_byte(model::Swizzle::b128, 128, row, 16 * chunk), ptxk::swizzled_128(0, row, chunk), where);
      formulas.equal(model::box_byte(model::Swizzle::b128, 128, row, 16 * chunk), row * 128 + (chunk ^ row % 8) * 16, where);
      if (chunk < 4) {
        formulas.equal(model::box_byte(model::Swizzle::b64, 64, row, 16 * chunk), row * 64 + (chunk ^ row / 2 % 4) * 16, where);
      }
      if (chunk < 2) {
        formulas.equal(model::box_byte(model::Swizzle::b32, 32, row, 16 * chunk), row * 32 + (chunk ^ row / 4 % 2) * 16, where);
      }
    }
  }
  checks.report("swizzle-chunks", "chunks by rows of a box are those of the address bits", formulas);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  check_formulas(checks);
  if (checks.on_device()) {
    check_lanes(checks);
    check_box(checks);
  }
  return checks.status();
}
