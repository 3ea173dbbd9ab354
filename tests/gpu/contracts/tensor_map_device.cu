// Tensor maps that lie in global memory and were written on the device: the fence that makes TMA see the new one (PTX ISA,
// "membar, fence": fence.proxy.tensormap).
#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/sm90/fence.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kMaps = 4;
constexpr int kRounds = 32;
constexpr int kWords = 32 * 8;

struct Maps {
  CUtensorMap map[kMaps];
};

struct alignas(128) Slot {
  uint8_t bytes[128];
};

__device__ void copy_map(Slot* slot, const CUtensorMap& map) {
  const uint64_t* from = reinterpret_cast<const uint64_t*>(&map);
  for (int i = 0; i < 16; ++i) {
    reinterpret_cast<uint64_t*>(slot)[i] = from[i];
  }
}

// Ordinary stores to the map become visible to the tensor map proxy of who acquires it.
__device__ void release_map() { asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory"); }

// Loads the box at (0, 0) through the map in `slot` and counts words that are not of tensor `which`.
__device__ uint32_t load_and_compare(const Slot* slot, uint32_t* box, uint64_t* barrier, uint32_t parity, int which) {
  ptxk::fence_tensor_map_acquire(slot);
  ptxk::mbarrier_arrive_expect_tx(barrier, kWords * 4);
  ptxk::tma_load_2d(box, reinterpret_cast<const CUtensorMap*>(slot), barrier, 0, 0);
  if (!contracts::completes(barrier, parity)) {
    return kWords + 1;
  }
  uint32_t misses = 0;
  for (int i = 0; i < kWords; ++i) {
    misses += box[i] != which * 1000003u + i;
  }
  return misses;
}

// In one thread: another map into the same slot, round after round.
__global__ void rewrite(const __grid_constant__ Maps maps, Slot* slot, uint32_t* wrong) {
  __shared__ alignas(128) uint32_t box[kWords];
  __shared__ uint64_t barrier;
  ptxk::mbarrier_init(&barrier, 1);
  ptxk::fence_mbarrier_init();
  for (int round = 0; round < kRounds; ++round) {
    copy_map(slot, maps.map[round % kMaps]);
    release_map();
    wrong[round] = load_and_compare(slot, box, &barrier, round % 2, round % kMaps);
  }
}

// From kernel to kernel: one writes, the next, on every SM, uses it.
__global__ void write_map(const __grid_constant__ Maps maps, Slot* slot, int which) {
  copy_map(slot, maps.map[which]);
  release_map();
}

__global__ void use_map(const Slot* slot, uint32_t* wrong, int which) {
  __shared__ alignas(128) uint32_t box[kWords];
  __shared__ uint64_t barrier;
  ptxk::mbarrier_init(&barrier, 1);
  ptxk::fence_mbarrier_init();
  const uint32_t misses = load_and_compare(slot, box, &barrier, 0, which);
  if (misses) {
    atomicAdd(wrong, misses);
  }
}

void check(contracts::Checks& checks) {
  Maps maps;
  std::vector<std::unique_ptr<contracts::Device<uint32_t>>> tensors;
  Tally made, within, across;
  for (int which = 0; which < kMaps; ++which) {
    std::vector<uint32_t> words(kWords);
    for (int i = 0; i < kWords; ++i) {
      words[i] = which * 1000003u + i;
    }
    tensors.push_back(std::make_unique<contracts::Device<uint32_t>>(words));
    const CUresult result = ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT32, ptxk::Swizzle::none, 32, 8>(
        &maps.map[which], tensors.back()->get(), {32, 8}, {128});
    made.equal(0, static_cast<int>(result), [&] { return text("CUresult of map %d", which); });
  }
  static_assert(sizeof(CUtensorMap) == sizeof(Slot), "a map is 128 bytes");
  contracts::Device<Slot> slot(1);
  contracts::Device<uint32_t> wrong(kRounds);
  rewrite<<<1, 1>>>(maps, slot.get(), wrong.get());
  CUDA_FINISH("rewrite");
  const std::vector<uint32_t> missed = wrong.read();
  for (int round = 0; round < kRounds; ++round) {
    within.equal(0u, missed[round], [&] { return text("wrong words in round %d", round); });
  }
  for (int round = 0; round < kRounds; ++round) {
    wrong.write({0});
    write_map<<<1, 1>>>(maps, slot.get(), round % kMaps);
    use_map<<<264, 1>>>(slot.get(), wrong.get(), round % kMaps);
    CUDA_FINISH("use_map");
    across.equal(0u, wrong.read()[0], [&] { return text("wrong words in round %d, 264 blocks", round); });
  }
  checks.report("tma-descriptor", "maps for the device's slot", made);
  checks.report("tensor-map-device", "a map rewritten in place by one thread: TMA uses the new one", within);
  checks.report("tensor-map-device", "a map rewritten by the kernel before: TMA on every SM uses the new one", across);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
