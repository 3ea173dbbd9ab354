// Addresses in shared memory, and dynamic shared memory above 48 KiB.
#include "check.hpp"
#include "ptxk/common/address.cuh"
#include "ptxk/sm90/launch.cuh"

namespace {

struct alignas(1024) Storage {
  uint32_t word[51200];  // 200 KiB
};

// What a store by 32-bit address leaves for a load by pointer, at `stride` words; and where the storage begins.
__global__ void through_addresses(uint32_t* seen, uint32_t* start, int stride) {
  extern __shared__ uint8_t raw[];
  Storage& storage = ptxk::aligned_shared<Storage>(raw);
  for (int i = threadIdx.x * stride; i < 51200; i += blockDim.x * stride) {
    const uint32_t address = ptxk::shared_address(&storage.word[i]);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(i * 2654435761u) : "memory");
  }
  __syncthreads();
  for (int i = threadIdx.x * stride; i < 51200; i += blockDim.x * stride) {
    seen[i] = storage.word[i];
  }
  if (threadIdx.x == 0) {
    *start = ptxk::shared_address(&storage);
  }
}

void check(contracts::Checks& checks) {
  constexpr int kBytes = ptxk::shared_bytes<Storage>;
  contracts::Tally opt_in;
  contracts::Device<uint32_t> seen(51200), start(1);
  through_addresses<<<1, 256, kBytes>>>(seen.get(), start.get(), 1);
  const cudaError_t before = cudaGetLastError();
  opt_in.holds(before == cudaErrorInvalidValue, [&] { return contracts::text("launch before: %s", cudaGetErrorName(before)); });
  const cudaError_t beyond = ptxk::allow_shared(through_addresses, ptxk::kMaxSharedBytes + 1);
  opt_in.holds(beyond != cudaSuccess, [] { return contracts::text("227 KiB and a byte are allowed"); });
  cudaGetLastError();
  const cudaError_t most = ptxk::allow_shared(through_addresses, ptxk::kMaxSharedBytes);
  opt_in.holds(most == cudaSuccess, [&] { return contracts::text("227 KiB: %s", cudaGetErrorName(most)); });
  CUDA_MUST(most);

  contracts::Tally words;
  for (const int stride : {1, 4, 33}) {
    seen.poison();
    through_addresses<<<1, 256, kBytes>>>(seen.get(), start.get(), stride);
    CUDA_FINISH("through_addresses");
    const std::vector<uint32_t> got = seen.read();
    for (int i = 0; i < 51200; i += stride) {
      words.equal(i * 2654435761u, got[i], [&] { return contracts::text("word %d", i); });
    }
    const uint32_t address = start.read()[0];
    opt_in.holds(address % 1024 == 0, [&] { return contracts::text("storage starts at %u", address); });
  }
  checks.report("shared-address", "stores by 32-bit address are seen through the pointer", words);
  checks.report("shared-opt-in", "above 48 KiB only after the opt-in, up to 227 KiB, on the declared boundary", opt_in);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
