// How much this device moves and computes: TMA into SMs, reads by all SMs, wgmma, powers of two. Figures for the device table;
// nothing here can be wrong but the making of a map.
#include "products.cuh"
#include "ptxk/sm90/math.cuh"
#include "transfers.cuh"

using contracts::bytes_per_cycle;
using contracts::From;
using contracts::least;
using contracts::load_cycles;
using contracts::pair_cycles;
using contracts::product_cycles;
using contracts::read_all;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kChains = 4;
constexpr int kPowers = 512;  // of each chain

// Chains of x = 2^-x, which settle at 0.64.
__global__ void __launch_bounds__(1024, 1) powers(uint64_t* cycles, float* sink) {
  float x[kChains];
  for (int i = 0; i < kChains; ++i) {
    x[i] = static_cast<float>(threadIdx.x + i) / 1024;
  }
  __syncthreads();
  const long long start = clock64();
#pragma unroll 8
  for (int turn = 0; turn < kPowers; ++turn) {
    for (float& one : x) {
      one = ptxk::exp2_fast(-one);
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) {
    *cycles = end - start;
  }
  contracts::use(x, sink);
}

double powers_per_cycle() {
  contracts::Device<uint64_t> cycles(1);
  contracts::Device<float> sink(1);
  return 1024.0 * kChains * kPowers / least(cycles, [&] { powers<<<1, 1024>>>(cycles.get(), sink.get()); });
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

void transfers(contracts::Checks& checks, unsigned sms) {
  using contracts::kBoxRows;
  // Boxes of a matrix of 4096 columns, as a GEMM cuts them, and of one that is a box wide, where a box is one run of 16 KiB.
  constexpr int kAcross = 6;
  constexpr contracts::Walk kMatrix{kAcross, true}, kMatrixShared{kAcross, false}, kRun{0, true};
  const uint64_t boxes = (uint64_t{sms} * contracts::kBoxesOfBlock + (1 << kAcross) - 1) >> kAcross << kAcross;
  const uint64_t columns = 64 << kAcross, rows = (boxes >> kAcross) * kBoxRows;
  const contracts::Device<uint8_t> memory(rows * columns * 2);
  CUtensorMap map, half_map, run_map;
  constexpr CUtensorMapDataType kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const CUresult made[] = {
      ptxk::make_tensor_map<kType, Swizzle::b128, 64, kBoxRows>(&map, memory.get(), {columns, rows}, {columns * 2}),
      ptxk::make_tensor_map<kType, Swizzle::b128, 64, kBoxRows / 2>(&half_map, memory.get(), {columns, rows}, {columns * 2}),
      ptxk::make_tensor_map<kType, Swizzle::b128, 64, kBoxRows>(&run_map, memory.get(), {64, boxes * kBoxRows}, {128}),
  };
  contracts::Tally maps;
  for (const CUresult result : made) {
    maps.equal(0, static_cast<int>(result), [] { return text("CUresult of a map"); });
  }
  checks.report("tma-descriptor", "maps of boxes of 64 by 128 and of halves of them", maps);
  if (maps.wrong()) {
    return;
  }
  checks.measured("tma-load", "boxes of 64 x 128 bf16 (16 KiB) from L2, one SM",
                  {{"latency_cycles", load_cycles<1>(map, kMatrix, 1) / contracts::kLoads},
                   {"bytes_per_cycle_4_in_flight", bytes_per_cycle(load_cycles<4>(map, kMatrix, 1))},
                   {"bytes_per_cycle_8_in_flight", bytes_per_cycle(load_cycles<8>(map, kMatrix, 1))},
                   {"bytes_per_cycle_12_in_flight", bytes_per_cycle(load_cycles<12>(map, kMatrix, 1))}});
  checks.measured("tma-load", "the same boxes, each one run of 16 KiB in memory",
                  {{"latency_cycles", load_cycles<1>(run_map, kRun, 1) / contracts::kLoads},
                   {"bytes_per_cycle_4_in_flight", bytes_per_cycle(load_cycles<4>(run_map, kRun, 1))},
                   {"bytes_per_cycle_12_in_flight", bytes_per_cycle(load_cycles<12>(run_map, kRun, 1))}});
  checks.measured("tma-load", "boxes of 16 KiB from L2 into each SM, all loading, 8 in flight",
                  {{"bytes_per_cycle_of_an_sm", bytes_per_cycle(load_cycles<8>(map, kMatrix, sms))},
                   {"bytes_per_cycle_of_an_sm_same_boxes", bytes_per_cycle(load_cycles<8>(map, kMatrixShared, sms))}});
  checks.measured("tma-multicast", "boxes of 16 KiB from L2 into both blocks of a cluster, each reads half, 8 in flight",
                  {{"bytes_per_cycle_one_pair", bytes_per_cycle(pair_cycles<8>(half_map, kMatrix, 1))},
                   {"bytes_per_cycle_all_pairs", bytes_per_cycle(pair_cycles<8>(half_map, kMatrix, sms / 2))}});
}

void computing(contracts::Checks& checks, unsigned sms) {
  checks.measured("wgmma-protocol", "m64n256k16 of bf16 on one SM, cycles of one",
                  {{"one_warpgroup_cycles", product_cycles<256, From::shared, 1>()},
                   {"two_warpgroups_cycles", product_cycles<256, From::shared, 2>()}});
  checks.measured("wgmma-protocol", "wgmma of bf16 on one SM, two warpgroups, cycles of one",
                  {{"m64n256k16_rs_cycles", product_cycles<256, From::registers, 2>()},
                   {"m64n128k16_ss_cycles", product_cycles<128, From::shared, 2>()},
                   {"m64n128k16_rs_cycles", product_cycles<128, From::registers, 2>()}});
  checks.measured("exp2-scale", "ex2.approx.ftz.f32 on one SM", {{"results_per_cycle", powers_per_cycle()}});
  const std::vector<contracts::Sample> samples = contracts::sustained_samples(sms);
  const int last = contracts::kSamples - 1;
  checks.measured("wgmma-protocol", "wgmma in all SMs for about 0.35 s: clock of an SM",
                  {{"first_tenth_mhz", contracts::clock_mhz(samples, 0, last / 10)},
                   {"last_third_mhz", contracts::clock_mhz(samples, last - last / 3, last)},
                   {"length_ms", static_cast<double>(samples[last].ns - samples[0].ns) / 1e6}});
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    int sms = 0;
    CUDA_MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    transfers(checks, static_cast<unsigned>(sms));
    {
      const contracts::Device<uint4> large(size_t{2} << 26), small(size_t{16} << 16);  // 2 GiB and 16 MiB
      checks.measured("cache-policy", "reads by all SMs, 16 bytes a thread",
                      {{"l2_tb_per_s", bytes_per_second(small, 40) / 1e12},
                       {"memory_tb_per_s", bytes_per_second(large, 1) / 1e12}});
    }
    computing(checks, static_cast<unsigned>(sms));  // last: it heats the device
  }
  return checks.status();
}
