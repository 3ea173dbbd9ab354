// How long loads and barriers take on this device, in cycles of an SM. Figures for the device table; nothing here can be wrong.
#include "bounded.cuh"
#include "measuring.cuh"
#include "ptxk/sm90/cluster.cuh"
#include "ptxk/sm90/dsmem.cuh"
#include "ptxk/sm90/launch.cuh"

using contracts::arrives;
using contracts::least;
using contracts::read_all;
using contracts::text;

namespace {

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
  return least(cycles,
               [&] {
                 if (cold) {
                   read_all<<<132 * 4, 512>>>(others.get(), others.size(), 1, nothing.get());
                 }
                 global_chase<<<1, 1>>>(memory.get(), hops, cycles.get(), sink.get());
               }) /
         hops;
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
  const double remote =
      least(cycles,
            [&] { CUDA_MUST(ptxk::launch_cluster(remote_chase, dim3(2), dim3(32), 2, 0, nullptr, cycles.get(), sink.get())); }) /
      kHops;
  checks.measured("dsmem-access", "a load from another block's shared memory", {{"latency_cycles", remote}});

  const contracts::Device<uint4> others(size_t{2} << 26);  // 2 GiB
  checks.measured("cache-policy", "a load past L1",
                  {{"l2_latency_cycles", hop_cycles(1024, 1024, false, others)},
                   {"memory_latency_cycles", hop_cycles(65536, 4096, true, others)}});
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
      return least(cycles,
                   [&] { CUDA_MUST(ptxk::launch_cluster(kernel, dim3(size), dim3(128), size, 0, nullptr, cycles.get())); }) /
             kHops;
    };
    checks.measured("cluster-barrier", text("cluster of %u blocks of 128 threads", size),
                    {{"sync_cycles", measure(cluster_barrier<false>)}, {"relaxed_cycles", measure(cluster_barrier<true>)}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    memories(checks);
    barriers(checks);
  }
  return checks.status();
}
