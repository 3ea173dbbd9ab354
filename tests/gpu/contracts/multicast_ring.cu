// A ring that all blocks of a cluster fill together: each loads its part of a tile for everyone, and refills a stage only when the
// consumers of all blocks are done with it (PTX ISA, "cp.async.bulk.tensor", "mbarrier.arrive"). With a cache policy or without.
#include <utility>

#include "boxes.cuh"
#include "meeting.cuh"
#include "ptxk/sm90/cache.cuh"
#include "ptxk/common/ring.cuh"
#include "ptxk/sm90/launch.cuh"

using contracts::all_meet;
using contracts::Patience;
using contracts::Tally;
using contracts::text;

namespace {

constexpr int kStages = 3;
constexpr int kTiles = 150;
constexpr int kWarps = 4;     // consumers of a block; one more warp produces
constexpr int kPartRows = 4;  // of a tile that one block loads for all
constexpr int kPartWords = 32 * kPartRows;
constexpr int kMostParts = 8;

enum Policy { kNoPolicy, kFirst, kLast };
const char* const kPolicyNames[] = {"no policy", "evict_first", "evict_last"};

// Tile t is rows [t * rows, ...) of `shared_map`, in parts of kPartRows, one of each rank; beside it each block loads a part of its
// own from `own_map`. `seen` gets what each block found, part by part, its own last.
template <Policy kPolicy>
__global__ void rings(const __grid_constant__ CUtensorMap shared_map, const __grid_constant__ CUtensorMap own_map, uint32_t* seen,
                      uint32_t* lost) {
  __shared__ alignas(128) uint32_t stages[kStages][kMostParts + 1][kPartWords];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t rank = ptxk::cluster_rank(), parts = ptxk::cluster_size();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptxk::mbarrier_init(&full[i], 1);
      ptxk::mbarrier_init(&empty[i], kWarps * parts);
    }
    ptxk::fence_mbarrier_init();
  }
  all_meet();
  ptxk::Ring<kStages> ring;
  Patience patience;
  if (threadIdx.x == kWarps * 32) {
    const uint64_t policy = kPolicy == kFirst ? ptxk::policy_evict_first() : ptxk::policy_evict_last();
    for (int tile = 0; tile < kTiles && patience.wait(&empty[ring.stage], ring.parity ^ 1); ++tile, ring.advance()) {
      uint64_t* barrier = &full[ring.stage];
      ptxk::mbarrier_arrive_expect_tx(barrier, (parts + 1) * kPartWords * 4);
      ptxk::tma_load_2d(stages[ring.stage][kMostParts], &own_map, barrier, 0, (tile * parts + rank) * kPartRows);
      const int row = (tile * parts + rank) * kPartRows;
      const uint16_t everyone = static_cast<uint16_t>((1u << parts) - 1);
      if constexpr (kPolicy == kNoPolicy) {
        ptxk::tma_load_2d_multicast(stages[ring.stage][rank], &shared_map, barrier, 0, row, everyone);
      } else {
        ptxk::tma_load_hint_2d_multicast(stages[ring.stage][rank], &shared_map, barrier, 0, row, everyone, policy);
      }
    }
  } else if (threadIdx.x < kWarps * 32) {
    uint32_t* mine = seen + rank * kTiles * (kMostParts + 1) * kPartWords;
    for (int tile = 0; tile < kTiles && patience.wait(&full[ring.stage], ring.parity); ++tile, ring.advance()) {
      for (uint32_t part = 0; part <= kMostParts; ++part) {
        if (part < parts || part == kMostParts) {
          mine[(tile * (kMostParts + 1) + part) * kPartWords + threadIdx.x] = stages[ring.stage][part][threadIdx.x];
        }
      }
      __syncwarp();
      if (threadIdx.x % 32 < parts) {
        ptxk::mbarrier_arrive_remote(&empty[ring.stage], threadIdx.x % 32);
      }
      if (rank == 0 && tile % 16 == 5) {
        contracts::pause_ns(3000);  // one block is late now and then: the others must not overrun it
      }
    }
  }
  if (patience.lost) {
    atomicAdd(lost, 1u);
  }
  all_meet();
}

static_assert(kPartWords == kWarps * 32, "a thread for each word of a part");

// The two tensors on the host and on the device, and their maps.
struct Tensors {
  std::vector<uint32_t> common, apart;
  CUtensorMap shared_map, own_map;
};

template <Policy kPolicy>
void fill(contracts::Checks& checks, const Tensors& tensors) {
  Tally tiles, waits;
  for (const unsigned size : contracts::kClusterSizes) {
    contracts::Device<uint32_t> seen(size_t{size} * kTiles * (kMostParts + 1) * kPartWords), lost(std::vector<uint32_t>(1, 0));
    CUDA_MUST(ptxk::launch_cluster(rings<kPolicy>, dim3(size), dim3((kWarps + 1) * 32), size, 0, nullptr, tensors.shared_map,
                                   tensors.own_map, seen.get(), lost.get()));
    CUDA_FINISH("rings");
    waits.equal(0u, lost.read()[0], [&] { return text("threads whose wait failed, clusters of %u", size); });
    const std::vector<uint32_t> got = seen.read();
    for (unsigned rank = 0; rank < size; ++rank) {
      for (int tile = 0; tile < kTiles; ++tile) {
        for (unsigned part = 0; part <= size; ++part) {  // the last is its own
          const bool own = part == size;
          const size_t from = (size_t{size} * tile + (own ? rank : part)) * kPartWords;
          const size_t at = ((size_t{rank} * kTiles + tile) * (kMostParts + 1) + (own ? kMostParts : part)) * kPartWords;
          for (int i = 0; i < kPartWords; ++i) {
            tiles.equal((own ? tensors.apart : tensors.common)[from + i], got[at + i],
                        [&] { return text("clusters of %u, rank %u, tile %d, part %u, word %d", size, rank, tile, part, i); });
          }
        }
      }
    }
  }
  const char* const with = kPolicyNames[kPolicy];
  checks.report("tma-multicast", text("a ring filled by all blocks for all, %s: every tile whole in every block", with), tiles);
  checks.report("mbarrier-remote", text("a ring filled by all blocks, %s: the arrivals of all consumers give a stage back", with),
                waits);
  if constexpr (kPolicy != kNoPolicy) {
    checks.report("cache-policy", text("a multicast with %s brings the same bytes", with), tiles);
  }
}

void check(contracts::Checks& checks) {
  constexpr uint64_t kRows = uint64_t{kTiles} * kMostParts * kPartRows;
  contracts::Random random(0x417C);
  Tensors tensors{std::vector<uint32_t>(kRows * 32), std::vector<uint32_t>(kRows * 32), {}, {}};
  for (size_t i = 0; i < tensors.common.size(); ++i) {
    tensors.common[i] = static_cast<uint32_t>(random.next());
    tensors.apart[i] = static_cast<uint32_t>(random.next());
  }
  const contracts::Device<uint32_t> common_memory(tensors.common), apart_memory(tensors.apart);
  for (const auto& [map, memory] : {std::pair{&tensors.shared_map, &common_memory}, std::pair{&tensors.own_map, &apart_memory}}) {
    const CUresult made = ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_UINT32, ptxk::Swizzle::none, 32, kPartRows>(
        map, memory->get(), {32, kRows}, {128});
    checks.report("tma-descriptor", "maps of a ring of a cluster", 1, made != CUDA_SUCCESS,
                  text("CUresult %d", static_cast<int>(made)));
    if (made != CUDA_SUCCESS) {
      return;
    }
  }
  fill<kNoPolicy>(checks, tensors);
  fill<kFirst>(checks, tensors);
  fill<kLast>(checks, tensors);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
