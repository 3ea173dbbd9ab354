// Clusters of 2, 4 and 8 blocks: ranks, barriers, multicast to every set of blocks (PTX ISA, "barrier.cluster",
// "cp.async.bulk.tensor").
#include "boxes.cuh"
#include "meeting.cuh"
#include "ptxk/sm90/dsmem.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"

using contracts::all_meet;
using contracts::Patience;
using contracts::Tally;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kThreads = 128;

__global__ void identify(uint32_t* seen) {
  if (threadIdx.x == 0) {
    seen[blockIdx.x * 2] = ptxk::cluster_rank();
    seen[blockIdx.x * 2 + 1] = ptxk::cluster_size();
  }
}

__device__ uint32_t secret(int round, uint32_t block, uint32_t thread) { return round * 1000003u + block * 4099u + thread; }

// Each block writes its shared memory, and after cluster_sync all see it; a second one before it is written again.
__global__ void exchange(int rounds, uint32_t* wrong) {
  __shared__ uint32_t mine[kThreads];
  const uint32_t first = blockIdx.x - ptxk::cluster_rank();
  uint32_t misses = 0;
  for (int round = 0; round < rounds; ++round) {
    mine[threadIdx.x] = secret(round, blockIdx.x, threadIdx.x);
    ptxk::cluster_sync();
    for (uint32_t cta = 0; cta < ptxk::cluster_size(); ++cta) {
      misses += ptxk::load_remote(ptxk::map_to_cta(&mine[threadIdx.x], cta)) != secret(round, first + cta, threadIdx.x);
    }
    ptxk::cluster_sync();
  }
  atomicAdd(wrong, misses);
}

// The block of rank `round` comes late; nobody passes before it came. The arrival is relaxed every other round.
__global__ void arrive_late(uint64_t* before, uint64_t* after) {
  const int rounds = static_cast<int>(ptxk::cluster_size()) * 2;
  for (int round = 0; round < rounds; ++round) {
    if (round / 2 == static_cast<int>(ptxk::cluster_rank())) {
      contracts::pause_ns(50'000);
    }
    if (threadIdx.x == 0) {
      before[round * gridDim.x + blockIdx.x] = contracts::now_ns();
    }
    __syncthreads();
    if (round % 2) {
      ptxk::cluster_arrive_relaxed();
    } else {
      ptxk::cluster_arrive();
    }
    ptxk::cluster_wait();
    if (threadIdx.x == 0) {
      after[round * gridDim.x + blockIdx.x] = contracts::now_ns();
    }
    __syncwarp();
  }
}

constexpr int kBoxWords = 32 * 8;
constexpr int kBoxBytes = kBoxWords * 4;

// One load to every set of blocks in turn, issued by each rank in turn, in the set or not. Blocks of the set get the box and its
// bytes; the others keep their poison and their phase.
__global__ void multicast(const __grid_constant__ CUtensorMap map, const uint32_t* source, uint32_t* wrong_words,
                          uint32_t* wrong_phases) {
  __shared__ alignas(128) uint32_t box[kBoxWords];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
  }
  all_meet();
  const uint32_t rank = ptxk::cluster_rank(), size = ptxk::cluster_size();
  uint32_t parity = 0;
  Patience patience;
  for (uint32_t mask = 1; mask < 1u << size; ++mask) {
    const bool addressed = mask >> rank & 1;
    for (int i = threadIdx.x; i < kBoxWords; i += blockDim.x) {
      box[i] = contracts::kSharedPoison;
    }
    ptxk::fence_proxy_async_shared();
    if (addressed && threadIdx.x == 0) {
      ptxk::mbarrier_arrive_expect_tx(&barrier, kBoxBytes);
    }
    all_meet();
    const int row = static_cast<int>(mask % 16);
    if (rank == mask % size && threadIdx.x == 0) {
      ptxk::tma_load_2d_multicast(box, &map, &barrier, 0, row, static_cast<uint16_t>(mask));
    }
    bool phase = true;
    if (addressed) {
      phase = patience.wait(&barrier, parity);
      parity ^= 1;
    }
    all_meet();  // all have theirs: what came to others came
    if (!addressed && !patience.lost && threadIdx.x == 0) {
      phase = !ptxk::mbarrier_try_wait_parity(&barrier, parity);
    }
    uint32_t misses = 0;
    for (int i = threadIdx.x; i < kBoxWords; i += blockDim.x) {
      misses += box[i] != (addressed ? source[row * 32 + i] : contracts::kSharedPoison);
    }
    atomicAdd(&wrong_words[mask], misses);
    if (!phase && threadIdx.x == 0) {
      atomicAdd(&wrong_phases[mask], 1u);
    }
    __syncthreads();
  }
  all_meet();
}

// Which launches are refused, and what one without a cluster is (CUDA C++ Programming Guide, "Thread Block Clusters").
void launches(contracts::Checks& checks) {
  Tally tally;
  contracts::Device<uint32_t> seen(32);
  const auto refused = [&](const char* what, unsigned blocks, unsigned size) {
    const cudaError_t error = ptxk::launch_cluster(identify, dim3(blocks), dim3(32), size, 0, nullptr, seen.get());
    tally.holds(error != cudaSuccess, [&] { return text("%s was launched", what); });
    cudaGetLastError();  // takes the error back
    CUDA_MUST(cudaDeviceSynchronize());
  };
  refused("a grid of 3 in clusters of 2", 3, 2);
  refused("a cluster of 16 without leave", 16, 16);
  checks.report("cluster-launch", "refused: grids that the size does not divide, more than 8 blocks without leave", tally);

  Tally alone;
  identify<<<2, 32>>>(seen.get());
  CUDA_FINISH("identify without a cluster");
  const std::vector<uint32_t> single = seen.read();
  for (int block = 0; block < 2; ++block) {
    alone.equal(0u, single[block * 2], [&] { return text("rank of block %d", block); });
    alone.equal(1u, single[block * 2 + 1], [&] { return text("size seen by block %d", block); });
  }
  checks.report("cluster-launch", "a plain launch: clusters of one", alone);

  Tally large;
  CUDA_MUST(cudaFuncSetAttribute(identify, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  const cudaError_t sixteen = ptxk::launch_cluster(identify, dim3(16), dim3(32), 16, 0, nullptr, seen.get());
  large.holds(sixteen == cudaSuccess, [&] { return text("%s", cudaGetErrorName(sixteen)); });
  cudaGetLastError();
  CUDA_MUST(cudaDeviceSynchronize());
  const std::vector<uint32_t> got = seen.read();
  for (uint32_t block = 0; block < 16 && sixteen == cudaSuccess; ++block) {
    large.equal(block, got[block * 2], [&] { return text("rank of block %u of 16", block); });
    large.equal(16u, got[block * 2 + 1], [&] { return text("size seen by block %u of 16", block); });
  }
  checks.report("cluster-launch", "16 blocks with cudaFuncAttributeNonPortableClusterSizeAllowed", large);
}

// How many clusters of `size` blocks may be on the device at once when each block takes an SM's shared memory; what the runtime
// refuses is its error's number, negative. Sizes above 8 need the leave that `launches` took.
double resident(unsigned size) {
  constexpr int kBytes = 200 * 1024;
  CUDA_MUST(ptxk::allow_shared(identify, kBytes));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {size, 1, 1};
  const cudaLaunchConfig_t config{dim3(size), dim3(kThreads), kBytes, nullptr, &attribute, 1};
  int clusters = 0;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, identify, &config);
  cudaGetLastError();  // takes the error back
  return error == cudaSuccess ? clusters : -static_cast<double>(error);
}

void ranks_and_barriers(contracts::Checks& checks) {
  Tally identity, exchanged, late;
  for (const unsigned size : contracts::kClusterSizes) {
    const unsigned blocks = size * 3;
    contracts::Device<uint32_t> seen(blocks * 2), wrong(1);
    CUDA_MUST(ptxk::launch_cluster(identify, dim3(blocks), dim3(32), size, 0, nullptr, seen.get()));
    CUDA_FINISH("identify");
    const std::vector<uint32_t> got = seen.read();
    for (unsigned block = 0; block < blocks; ++block) {
      identity.equal(block % size, got[block * 2], [&] { return text("rank of block %u, clusters of %u", block, size); });
      identity.equal(size, got[block * 2 + 1], [&] { return text("size seen by block %u", block); });
    }
    wrong.write({0});
    CUDA_MUST(ptxk::launch_cluster(exchange, dim3(blocks), dim3(kThreads), size, 0, nullptr, 200, wrong.get()));
    CUDA_FINISH("exchange");
    exchanged.equal(0u, wrong.read()[0], [&] { return text("words not seen, clusters of %u", size); });

    contracts::Device<uint64_t> before(size * 2 * size), after(size * 2 * size);
    CUDA_MUST(ptxk::launch_cluster(arrive_late, dim3(size), dim3(kThreads), size, 0, nullptr, before.get(), after.get()));
    CUDA_FINISH("arrive_late");
    const std::vector<uint64_t> came = before.read(), went = after.read();
    for (unsigned round = 0; round < size * 2; ++round) {
      const uint64_t late_one = came[round * size + round / 2];
      for (unsigned block = 0; block < size; ++block) {
        // The timer steps by up to a microsecond or two; the late block comes 50 later than the others.
        late.holds(went[round * size + block] + 10'000 >= late_one, [&] {
          return text("clusters of %u, %s arrival: block %u passed %.1f us before block %u came", size,
                      round % 2 ? "relaxed" : "plain", block, static_cast<double>(late_one - went[round * size + block]) / 1e3,
                      round / 2);
        });
      }
    }
  }
  checks.report("cluster-launch", "rank and size in clusters of 2, 4, 8", identity);
  launches(checks);
  checks.measured("cluster-launch", "clusters on the device at once, a block an SM",
                  {{"clusters_of_2", resident(2)},
                   {"clusters_of_4", resident(4)},
                   {"clusters_of_8", resident(8)},
                   {"clusters_of_16", resident(16)}});
  checks.report("cluster-barrier", "200 rounds: after cluster_sync all see what a block wrote", exchanged);
  checks.report("cluster-barrier", "nobody passes before the last has come, relaxed arrival or not", late);
}

void multicasts(contracts::Checks& checks) {
  contracts::Random random(0xCA57);
  std::vector<uint32_t> words(32 * 24);
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(random.next());
  }
  const contracts::Device<uint32_t> source(words);
  CUtensorMap map;
  const CUresult made =
      ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT32, Swizzle::none, 32, 8>(&map, source.get(), {32, 24}, {128});
  Tally boxes, phases;
  boxes.equal(0, static_cast<int>(made), [] { return text("CUresult of the map"); });
  for (const unsigned size : contracts::kClusterSizes) {
    contracts::Device<uint32_t> wrong_words(std::vector<uint32_t>(256, 0)), wrong_phases(std::vector<uint32_t>(256, 0));
    CUDA_MUST(ptxk::launch_cluster(multicast, dim3(size), dim3(kThreads), size, 0, nullptr, map, source.get(), wrong_words.get(),
                                   wrong_phases.get()));
    CUDA_FINISH("multicast");
    const std::vector<uint32_t> missed = wrong_words.read(), failed = wrong_phases.read();
    for (unsigned mask = 1; mask < 1u << size; ++mask) {
      boxes.equal(0u, missed[mask], [&] { return text("wrong words, clusters of %u, mask 0x%02x", size, mask); });
      phases.equal(0u, failed[mask], [&] { return text("wrong phases, clusters of %u, mask 0x%02x", size, mask); });
    }
  }
  checks.report("tma-multicast", "every mask, every issuer: the box in the blocks of the mask, nothing in the others", boxes);
  checks.report("tma-multicast", "every mask: the whole box's bytes on each addressed block's own barrier", phases);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    ranks_and_barriers(checks);
    multicasts(checks);
  }
  return checks.status();
}
