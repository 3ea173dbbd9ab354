// What things take on this device: latencies in cycles of an SM, bandwidths, and the rate of wgmma. Figures for the device table;
// nothing here can be wrong.
#include <algorithm>

#include "bounded.cuh"
#include "boxes.cuh"
#include "ptxk/sm90/cluster.cuh"
#include "ptxk/sm90/dsmem.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_instances.cuh"

using contracts::text;
using ptxk::Major;
using ptxk::Swizzle;

namespace {

// One launch to warm up, then the least of five: what disturbs only adds.
template <typename Launch>
double least(contracts::Device<uint64_t>& cycles, Launch launch) {
  uint64_t best = ~uint64_t{0};
  for (int turn = 0; turn < 6; ++turn) {
    launch();
    CUDA_FINISH("a measurement");
    best = turn ? std::min(best, cycles.read()[0]) : best;
  }
  return static_cast<double>(best);
}

// Bounded by tries alone: reading the timer would be measured too.
__device__ __forceinline__ bool arrives(uint64_t* barrier, uint32_t parity) {
  for (int turn = 0; turn < 1000; ++turn) {
    if (ptxk::mbarrier_try_wait_parity(barrier, parity)) {
      return true;
    }
  }
  return false;
}

__global__ void clock_rate(uint64_t* cycles, uint64_t* ns) {
  const uint64_t start = contracts::now_ns();
  const long long from = clock64();
  contracts::pause_ns(5'000'000);
  const long long to = clock64();
  *ns = contracts::now_ns() - start;
  *cycles = to - from;
}

constexpr int kHops = 512;

// Each word holds the shared address of the next: nothing but loads that wait for each other.
__global__ void shared_chase(uint64_t* cycles, uint32_t* sink) {
  __shared__ uint32_t words[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
    words[i] = ptxk::shared_address(&words[(i + 33) % 1024]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t at = ptxk::shared_address(words);
    const long long start = clock64();
    for (int i = 0; i < kHops; ++i) {
      asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    }
    *cycles = clock64() - start;
    *sink = at;
  }
}

// The same through the shared memory of rank 1.
__global__ void remote_chase(uint64_t* cycles, uint32_t* sink) {
  __shared__ uint32_t words[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
    words[i] = ptxk::map_to_cta(&words[(i + 33) % 1024], 1);
  }
  __syncthreads();
  ptxk::cluster_sync();
  if (ptxk::cluster_rank() == 0 && threadIdx.x == 0) {
    uint32_t at = ptxk::map_to_cta(words, 1);
    const long long start = clock64();
    for (int i = 0; i < kHops; ++i) {
      at = ptxk::load_remote(at);
    }
    *cycles = clock64() - start;
    *sink = at;
  }
  __syncthreads();
  ptxk::cluster_sync();
}

constexpr int kNodeBytes = 4096;

__global__ void link(uint8_t* memory, const uint32_t* next, int nodes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) {
    *reinterpret_cast<uint8_t**>(memory + size_t{kNodeBytes} * i) = memory + size_t{kNodeBytes} * next[i];
  }
}

__global__ void global_chase(uint8_t* memory, int hops, uint64_t* cycles, uint8_t** sink) {
  uint8_t* at = memory;
  const long long start = clock64();
  for (int i = 0; i < hops; ++i) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  *cycles = clock64() - start;
  *sink = at;
}

// One thread, alone on its barrier.
__global__ void barrier_round(uint64_t* cycles) {
  __shared__ uint64_t barrier;
  ptxk::mbarrier_init(&barrier, 1);
  bool all = true;
  const long long start = clock64();
  for (int i = 0; i < kHops; ++i) {
    ptxk::mbarrier_arrive(&barrier);
    all = arrives(&barrier, i % 2) && all;
  }
  *cycles = all ? clock64() - start : 0;
}

// How long a try_wait sleeps before it says no.
__global__ void refused_wait(uint64_t* ns) {
  __shared__ uint64_t barrier;
  ptxk::mbarrier_init(&barrier, 1);
  const uint64_t start = contracts::now_ns();
  uint32_t passed = 0;
  for (int i = 0; i < 8; ++i) {
    passed += ptxk::mbarrier_try_wait_parity(&barrier, 0);
  }
  *ns = passed ? 0 : contracts::now_ns() - start;
}

__global__ void block_barrier(uint64_t* cycles) {
  __syncthreads();
  const long long start = clock64();
  for (int i = 0; i < kHops; ++i) {
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *cycles = clock64() - start;
  }
}

template <bool kRelaxed>
__global__ void cluster_barrier(uint64_t* cycles) {
  ptxk::cluster_sync();
  const long long start = clock64();
  for (int i = 0; i < kHops; ++i) {
    if constexpr (kRelaxed) {
      ptxk::cluster_arrive_relaxed();
    } else {
      ptxk::cluster_arrive();
    }
    ptxk::cluster_wait();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *cycles = clock64() - start;
  }
}

constexpr int kLoads = 64;
constexpr int kInFlight = 4;
struct alignas(1024) Boxes {
  uint8_t box[kInFlight][128 * 128];
  uint64_t barrier[kInFlight];
};

// `deep` loads of 16 KiB in flight: 1 gives the latency, 4 what one SM takes in. All boxes lie in L2.
__global__ void tma_loads(const __grid_constant__ CUtensorMap map, int deep, uint64_t* cycles) {
  extern __shared__ uint8_t raw[];
  Boxes& shared = ptxk::aligned_shared<Boxes>(raw);
  for (int i = 0; i < kInFlight; ++i) {
    ptxk::mbarrier_init(&shared.barrier[i], 1);
  }
  ptxk::fence_mbarrier_init();
  const auto issue = [&](int load) {
    uint64_t* barrier = &shared.barrier[load % deep];
    ptxk::mbarrier_arrive_expect_tx(barrier, 128 * 128);
    ptxk::tma_load_2d(shared.box[load % deep], &map, barrier, 0, load % 16 * 128);
  };
  bool all = true;
  const long long start = clock64();
  for (int load = 0; load < deep; ++load) {
    issue(load);
  }
  for (int load = 0; load < kLoads; ++load) {
    all = arrives(&shared.barrier[load % deep], load / deep % 2) && all;
    if (load + deep < kLoads && all) {
      issue(load + deep);
    }
  }
  *cycles = all ? clock64() - start : 0;
}

constexpr int kProducts = 256;
template <int kWarpgroups>
struct alignas(1024) Operands {
  uint8_t a[kWarpgroups][64 * 128];
  uint8_t b[256 * 128];
};

// Every warpgroup multiplies 64 x 64 by 64 x 256 again and again, without a wait between.
template <int kWarpgroups>
__global__ void __launch_bounds__(128 * kWarpgroups, 1) products(uint64_t* cycles, float* sink) {
  extern __shared__ uint8_t raw[];
  using Storage = Operands<kWarpgroups>;
  Storage& shared = ptxk::aligned_shared<Storage>(raw);
  for (int i = threadIdx.x; i < static_cast<int>(sizeof(Storage) / 4); i += blockDim.x) {
    reinterpret_cast<uint32_t*>(&shared)[i] = 0;
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  const int warpgroup = threadIdx.x / 128;
  float d[128] = {};
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < kProducts / 4; ++turn) {
    ptxk::wgmma_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      ptxk::wgmma_m64n256k16_bf16(d, ptxk::make_descriptor<Swizzle::b128, Major::k, 64, 64>(shared.a[warpgroup], step),
                                  ptxk::make_descriptor<Swizzle::b128, Major::k, 256, 64>(shared.b, step), 1);
    }
    ptxk::wgmma_commit();
  }
  ptxk::wgmma_wait<0>();
  ptxk::wgmma_settle(d);
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) {
    *cycles = end - start;
  }
  float sum = 0;
  for (const float one : d) {
    sum += one;
  }
  if (sum != 0) {
    *sink = sum;
  }
}

// Past L1. The last argument keeps the loads alive.
__global__ void read_all(const uint4* from, size_t count, int times, uint32_t* sink) {
  uint32_t sum = 0;
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (int turn = 0; turn < times; ++turn) {
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
      const uint4 a = __ldcg(from + i), b = __ldcg(from + i + step), c = __ldcg(from + i + 2 * step), d = __ldcg(from + i + 3 * step);
      sum += a.x ^ b.y ^ c.z ^ d.w;
    }
    for (; i < count; i += step) {
      sum += __ldcg(from + i).x;
    }
  }
  if (sum == 0x12345678) {
    *sink = sum;
  }
}

double bytes_per_second(const contracts::Device<uint4>& memory, int times) {
  contracts::Device<uint32_t> sink(1);
  cudaEvent_t begin, end;
  CUDA_MUST(cudaEventCreate(&begin));
  CUDA_MUST(cudaEventCreate(&end));
  double best = 0;
  for (int turn = 0; turn < 6; ++turn) {
    CUDA_MUST(cudaEventRecord(begin));
    read_all<<<132 * 4, 512>>>(memory.get(), memory.size(), times, sink.get());
    CUDA_MUST(cudaEventRecord(end));
    CUDA_FINISH("read_all");
    float ms = 0;
    CUDA_MUST(cudaEventElapsedTime(&ms, begin, end));
    best = turn ? std::max(best, static_cast<double>(memory.size()) * 16 * times / (ms * 1e-3)) : best;
  }
  CUDA_MUST(cudaEventDestroy(begin));
  CUDA_MUST(cudaEventDestroy(end));
  return best;
}

// A cycle through `nodes` of `memory`, in random order; the cycles of one hop after `warm` hops.
double hop_cycles(int nodes, int hops, bool cold, const contracts::Device<uint4>& others) {
  contracts::Device<uint8_t> memory(size_t{kNodeBytes} * nodes);
  contracts::Random random(0x40F);
  std::vector<uint32_t> order(nodes), next(nodes);
  for (int i = 0; i < nodes; ++i) {
    order[i] = i;
  }
  for (int i = nodes - 1; i > 1; --i) {
    std::swap(order[i], order[random.between(1, i)]);  // node 0 stays first
  }
  for (int i = 0; i < nodes; ++i) {
    next[order[i]] = order[(i + 1) % nodes];
  }
  const contracts::Device<uint32_t> successors(next);
  contracts::Device<uint64_t> cycles(1);
  contracts::Device<uint8_t*> sink(1);
  contracts::Device<uint32_t> nothing(1);
  link<<<(nodes + 255) / 256, 256>>>(memory.get(), successors.get(), nodes);
  CUDA_FINISH("link");
  return least(cycles, [&] {
           if (cold) {
             read_all<<<132 * 4, 512>>>(others.get(), others.size(), 1, nothing.get());
           }
           global_chase<<<1, 1>>>(memory.get(), hops, cycles.get(), sink.get());
         }) / hops;
}

void memories(contracts::Checks& checks) {
  contracts::Device<uint64_t> cycles(1), ns(1);
  contracts::Device<uint32_t> sink(1);
  clock_rate<<<1, 1>>>(cycles.get(), ns.get());
  CUDA_FINISH("clock_rate");
  checks.measured("shared-address", "clock of an SM while these figures were taken",
                  {{"clock_mhz", 1e3 * static_cast<double>(cycles.read()[0]) / static_cast<double>(ns.read()[0])}});
  const double shared = least(cycles, [&] { shared_chase<<<1, 32>>>(cycles.get(), sink.get()); }) / kHops;
  checks.measured("shared-address", "a load from shared memory", {{"latency_cycles", shared}});
  const double remote = least(cycles, [&] {
                          CUDA_MUST(ptxk::launch_cluster(remote_chase, dim3(2), dim3(32), 2, 0, nullptr, cycles.get(), sink.get()));
                        }) / kHops;
  checks.measured("dsmem-access", "a load from another block's shared memory", {{"latency_cycles", remote}});

  const contracts::Device<uint4> large(size_t{2} << 26), small(size_t{16} << 16);  // 2 GiB and 16 MiB
  checks.measured("cache-policy", "a load past L1",
                  {{"l2_latency_cycles", hop_cycles(1024, 1024, false, large)}, {"memory_latency_cycles", hop_cycles(65536, 4096, true, large)}});
  checks.measured("cache-policy", "reads by all SMs, 16 bytes a thread",
                  {{"l2_tb_per_s", bytes_per_second(small, 40) / 1e12}, {"memory_tb_per_s", bytes_per_second(large, 1) / 1e12}});
}

void barriers(contracts::Checks& checks) {
  contracts::Device<uint64_t> cycles(1);
  const double round = least(cycles, [&] { barrier_round<<<1, 1>>>(cycles.get()); }) / kHops;
  const double refused = least(cycles, [&] { refused_wait<<<1, 1>>>(cycles.get()); }) / 8;
  checks.measured("mbarrier-wait", "mbarrier of one thread", {{"arrive_and_wait_cycles", round}, {"try_wait_refused_ns", refused}});
  const double block = least(cycles, [&] { block_barrier<<<1, 256>>>(cycles.get()); }) / kHops;
  checks.measured("named-barrier", "__syncthreads of 256 threads", {{"barrier_cycles", block}});
  for (const unsigned size : {2u, 4u, 8u}) {
    const auto measure = [&](auto kernel) {
      return least(cycles, [&] { CUDA_MUST(ptxk::launch_cluster(kernel, dim3(size), dim3(128), size, 0, nullptr, cycles.get())); }) / kHops;
    };
    checks.measured("cluster-barrier", text("cluster of %u blocks of 128 threads", size),
                    {{"sync_cycles", measure(cluster_barrier<false>)}, {"relaxed_cycles", measure(cluster_barrier<true>)}});
  }
}

void transfers(contracts::Checks& checks) {
  const contracts::Device<uint8_t> memory(2048 * 128);
  contracts::Device<uint64_t> cycles(1);
  CUtensorMap map;
  const CUresult made =
      ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 128>(&map, memory.get(), {64, 2048}, {128});
  checks.report("tma-descriptor", "a map of boxes of 64 by 128", 1, made != CUDA_SUCCESS, text("CUresult %d", static_cast<int>(made)));
  constexpr int kBytes = ptxk::shared_bytes<Boxes>;
  CUDA_MUST(ptxk::allow_shared(tma_loads, kBytes));
  const auto measure = [&](int deep) {
    return least(cycles, [&] { tma_loads<<<1, 1, kBytes>>>(map, deep, cycles.get()); }) / kLoads;
  };
  const double one = measure(1), four = measure(4);
  checks.measured("tma-load", "boxes of 64 x 128 bf16 (16 KiB) from L2, one SM",
                  {{"latency_cycles", one}, {"bytes_per_cycle_4_in_flight", four > 0 ? 128 * 128 / four : 0}});
}

template <int kWarpgroups>
double product_cycles() {
  constexpr int kBytes = ptxk::shared_bytes<Operands<kWarpgroups>>;
  contracts::Device<uint64_t> cycles(1);
  contracts::Device<float> sink(1);
  CUDA_MUST(ptxk::allow_shared(products<kWarpgroups>, kBytes));
  return least(cycles, [&] { products<kWarpgroups><<<1, 128 * kWarpgroups, kBytes>>>(cycles.get(), sink.get()); }) /
         (kProducts * kWarpgroups);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    memories(checks);
    barriers(checks);
    transfers(checks);
    checks.measured("wgmma-protocol", "m64n256k16 of bf16 on one SM, cycles of one",
                    {{"one_warpgroup_cycles", product_cycles<1>()}, {"two_warpgroups_cycles", product_cycles<2>()}});
  }
  return checks.status();
}
