// Whole tiles as kernels have them: laid down box by box, multiplied by two warpgroups through make_descriptor, step after step of K.
// What no operand should read is NaN. The first checks are the ones that published texts deny: MN-major 128B tiles of 128 and 256
// columns in one instruction.
#include "elements.hpp"
#include "layouts.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_templates.cuh"

namespace {

using contracts::kDepth;
using contracts::Matrix;
using ptxk::Major;
using ptxk::Swizzle;

constexpr int kRows = 128;
constexpr uint32_t kStartOfB = 17 * 1024;  // A takes 16 KiB; 1 KiB of NaN between
constexpr uint32_t kImage = 50 * 1024;     // B takes 32 KiB at most

struct alignas(1024) Storage {
  uint8_t bytes[kImage];
};

// The first steps of K of a product of A (128 x 64) and B (N x 64).
template <int N, Swizzle kSwizzle, Major kA, Major kB, int kSteps>
__global__ void __launch_bounds__(256) multiply(const uint4* image, float* registers) {
  extern __shared__ uint8_t raw[];
  Storage& storage = ptxk::aligned_shared<Storage>(raw);
  for (uint32_t i = threadIdx.x; i < kImage / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(storage.bytes)[i] = image[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  const uint32_t warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  float d[N / 2];
  for (float& value : d) {
    value = 12345.f;
  }
  ptxk::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    ptxk::wgmma_m64k16<N, ptxk::Input::bf16, kA, kB>(
        d, ptxk::make_descriptor<kSwizzle, kA, kRows, kDepth>(storage.bytes, step, warpgroup),
        ptxk::make_descriptor<kSwizzle, kB, N, kDepth>(storage.bytes + kStartOfB, step), step != 0);
  }
  ptxk::wgmma_commit();
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  for (int i = 0; i < N / 2; ++i) {
    registers[threadIdx.x * (N / 2) + i] = d[i];
  }
}

// Puts the tile of a matrix into memory as TMA would.
void lay(contracts::Memory& memory, uint32_t start, Swizzle swizzle, Major major, const Matrix& matrix) {
  const uint32_t box_bytes = ptxk::swizzle_span(swizzle) * (major == Major::k ? matrix.rows : matrix.columns);
  for (int mn = 0; mn < matrix.rows; ++mn) {
    for (int k = 0; k < matrix.columns; ++k) {
      memory.set(start + contracts::boxed_byte(swizzle, major, box_bytes, mn, k), matrix.at(mn, k));
    }
  }
}

Matrix first_columns(const Matrix& matrix, int columns) {
  Matrix kept{matrix.rows, columns};
  for (int row = 0; row < matrix.rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      kept.at(row, column) = matrix.at(row, column);
    }
  }
  return kept;
}

template <int N, Swizzle kSwizzle, Major kA, Major kB, int kSteps = contracts::kSteps>
void check(contracts::Checks& checks) {
  contracts::Random random(N + 7 * static_cast<int>(kSwizzle) + 2 * static_cast<int>(kA) + static_cast<int>(kB));
  const Matrix a = contracts::random_matrix(kRows, kDepth, 3, random), b = contracts::random_matrix(N, kDepth, 3, random);
  contracts::Memory memory(contracts::Type::bf16, kImage);
  lay(memory, 0, kSwizzle, kA, a);
  lay(memory, kStartOfB, kSwizzle, kB, b);
  const contracts::Device<uint8_t> image(memory.bytes());
  const contracts::Device<float> registers(static_cast<size_t>(kRows) * N);
  const auto kernel = multiply<N, kSwizzle, kA, kB, kSteps>;
  constexpr int kShared = ptxk::shared_bytes<Storage>;
  CUDA_MUST(ptxk::allow_shared(kernel, kShared));
  kernel<<<1, 256, kShared>>>(reinterpret_cast<const uint4*>(image.get()), registers.get());
  CUDA_FINISH("multiply");
  const std::vector<float> got = registers.read();
  const Matrix expected = contracts::product(first_columns(a, 16 * kSteps), first_columns(b, 16 * kSteps));
  contracts::Tally tally;
  for (const int warpgroup : {0, 1}) {
    contracts::compare(tally, expected, 64 * warpgroup, &got[static_cast<size_t>(warpgroup) * 64 * N],
                       [&] { return contracts::text("warpgroup %d", warpgroup); });
  }
  checks.report(kSteps == 1 ? "descriptor-strides" : "descriptor-k-step",
                contracts::text("boxed tiles, %s, A %s, B %s, n %d, %s", contracts::name_of(kSwizzle), contracts::name_of(kA),
                                contracts::name_of(kB), N, kSteps == 1 ? "one instruction" : "64 of K"),
                tally);
}

template <Swizzle kSwizzle>
void all_majors(contracts::Checks& checks) {
  check<64, kSwizzle, Major::k, Major::k>(checks);
  check<64, kSwizzle, Major::k, Major::mn>(checks);
  check<64, kSwizzle, Major::mn, Major::k>(checks);
  check<64, kSwizzle, Major::mn, Major::mn>(checks);
  check<192, kSwizzle, Major::k, Major::k>(checks);
  check<192, kSwizzle, Major::k, Major::mn>(checks);
  check<192, kSwizzle, Major::mn, Major::k>(checks);
  check<192, kSwizzle, Major::mn, Major::mn>(checks);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check<128, Swizzle::b128, Major::k, Major::mn, 1>(checks);
    check<256, Swizzle::b128, Major::k, Major::mn, 1>(checks);
    check<256, Swizzle::b128, Major::mn, Major::mn, 1>(checks);
    all_majors<Swizzle::b128>(checks);
    all_majors<Swizzle::b64>(checks);
    all_majors<Swizzle::b32>(checks);
    all_majors<Swizzle::none>(checks);
  }
  return checks.status();
}
