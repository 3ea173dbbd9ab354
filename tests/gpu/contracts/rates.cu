// How much this device moves and multiplies: TMA into one SM, reads by all SMs, wgmma. Figures for the device table; nothing here
// can be wrong but the making of a map.
#include "boxes.cuh"
#include "measuring.cuh"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/launch.cuh"
#include "ptxk/sm90/wgmma_instances.cuh"

using contracts::arrives;
using contracts::least;
using contracts::read_all;
using contracts::text;
using ptxk::Major;
using ptxk::Swizzle;

namespace {

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

void transfers(contracts::Checks& checks) {
  const contracts::Device<uint8_t> memory(2048 * 128);
  contracts::Device<uint64_t> cycles(1);
  CUtensorMap map;
  const CUresult made =
      ptxk::make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 128>(&map, memory.get(), {64, 2048}, {128});
  checks.report("tma-descriptor", "a map of boxes of 64 by 128", 1, made != CUDA_SUCCESS,
                text("CUresult %d", static_cast<int>(made)));
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
    transfers(checks);
    const contracts::Device<uint4> large(size_t{2} << 26), small(size_t{16} << 16);  // 2 GiB and 16 MiB
    checks.measured("cache-policy", "reads by all SMs, 16 bytes a thread",
                    {{"l2_tb_per_s", bytes_per_second(small, 40) / 1e12}, {"memory_tb_per_s", bytes_per_second(large, 1) / 1e12}});
    checks.measured("wgmma-protocol", "m64n256k16 of bf16 on one SM, cycles of one",
                    {{"one_warpgroup_cycles", product_cycles<1>()}, {"two_warpgroups_cycles", product_cycles<2>()}});
  }
  return checks.status();
}
