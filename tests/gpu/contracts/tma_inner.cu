// The inner coordinate of TMA is a multiple of 16 bytes: others are an illegal instruction, measured on an H200. The PTX ISA does
// not say so; Triton's tutorials do (Gluon, "TMA", restrictions). What must fail ends its CUDA context, so each case runs in a
// process of its own: this program, started with --case and a number, answers in one line on its standard output.
#include <cuda_bf16.h>

#include <algorithm>
#include <cstdlib>

#include "bounded.cuh"
#include "boxes.cuh"
#include "children.hpp"
#include "ptxk/sm90/fence.cuh"

using contracts::Clock;
using contracts::Coordinates;
using contracts::Tally;
using contracts::Tensor;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kShared = 4096;
constexpr int kRow = 2;
constexpr auto kLongest = std::chrono::seconds(6);  // of one case, which takes some 0.4 s
constexpr auto kAll = std::chrono::seconds(24);     // of all cases: the program itself has 30 s

enum Operation { kLoad, kStore, kReduce, kPrefetch, kOperations };
const char* const kOperationNames[kOperations] = {"load", "store", "reduce_add", "prefetch"};

enum Kind { kBf16, kFloat, kByte };
const char* const kKindNames[] = {"bf16_128B", "f32_none", "u8_128B"};
constexpr int kElementBytes[] = {2, 4, 1};

struct Case {
  Operation operation;
  Kind kind;
  int inner;  // coordinate, in elements

  bool legal() const { return inner * kElementBytes[kind] % static_cast<int>(contracts::kInnerBytes) == 0; }
  std::string name() const {
    return text("%s_%s_at_%s%d", kOperationNames[operation], kKindNames[kind], inner < 0 ? "minus_" : "", std::abs(inner));
  }
};

constexpr Case kCases[] = {
    {kLoad, kBf16, 1},     {kLoad, kBf16, 4},     {kLoad, kBf16, -3},    {kLoad, kBf16, 8},      {kLoad, kBf16, -8},
    {kLoad, kFloat, 1},    {kLoad, kFloat, 4},    {kLoad, kFloat, 8},    {kLoad, kByte, 1},      {kLoad, kByte, 4},
    {kLoad, kByte, 8},     {kLoad, kByte, 16},    {kStore, kBf16, 1},    {kStore, kBf16, 4},     {kStore, kBf16, 8},
    {kStore, kFloat, 1},   {kStore, kFloat, 4},   {kStore, kByte, 8},    {kReduce, kBf16, 1},    {kReduce, kBf16, 4},
    {kReduce, kBf16, 8},   {kReduce, kFloat, 1},  {kReduce, kFloat, 4},  {kPrefetch, kBf16, 1},  {kPrefetch, kBf16, 4},
    {kPrefetch, kBf16, 8}, {kPrefetch, kFloat, 1}, {kPrefetch, kByte, 8},
};
constexpr int kCount = sizeof(kCases) / sizeof(kCases[0]);

// What a case's process says: the error of the launch and its run, and without one how many bytes were not what the model says.
struct Outcome {
  int error = -1;
  long long wrong = -1;
  std::string fault;  // why there is no answer
};

// ---- in the process of one case ----

// One operation on shared memory that holds `image`; the barrier of a load must complete within its patience.
__global__ void once(const __grid_constant__ CUtensorMap map, Operation operation, Coordinates corner, uint32_t bytes,
                     const uint8_t* image, uint8_t* dump, int* completed) {
  __shared__ alignas(1024) uint32_t box[kShared / 4];
  __shared__ uint64_t barrier;
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    box[i] = reinterpret_cast<const uint32_t*>(image)[i];
  }
  ptxk::fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  bool done = true;
  if (operation == kLoad) {
    if (threadIdx.x == 0) {
      ptxk::mbarrier_arrive_expect_tx(&barrier, bytes);
      contracts::load_box<2>(box, &map, &barrier, corner);
    }
    done = contracts::completes(&barrier, 0);
  } else if (threadIdx.x == 0 && operation == kPrefetch) {
    contracts::prefetch_box<2>(&map, corner);
  } else if (threadIdx.x == 0) {
    if (operation == kStore) {
      contracts::store_box<2>(&map, box, corner);
    } else {
      contracts::add_box<2>(&map, box, corner);
    }
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
  if (threadIdx.x == 0) {
    *completed = done;
  }
  for (int i = threadIdx.x; i < kShared / 4; i += blockDim.x) {
    reinterpret_cast<uint32_t*>(dump)[i] = box[i];
  }
}

// Addends are ones, to a tensor of zeros.
template <typename T>
std::vector<uint8_t> ones(size_t bytes) {
  const std::vector<T> values(bytes / sizeof(T), T(1.f));
  std::vector<uint8_t> image(bytes);
  std::memcpy(image.data(), values.data(), bytes);
  return image;
}

template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t kColumns>
Outcome attempt(const Case& one) {
  static_assert(kColumns * 16 * ptxk::element_bytes(kType) <= kShared, "a box fits");
  contracts::Random random(0x1227E);
  Tally maps;
  Tensor tensor = contracts::make_tensor<kType, kSwizzle, kColumns, 16>(random, maps);
  if (!tensor.made) {
    return {-1, -1, maps.first()};
  }
  const Coordinates corner{{one.inner, kRow}};
  std::vector<uint8_t> image(kShared, contracts::kSharedPoison & 0xFF);
  if (one.operation == kReduce) {
    image = one.kind == kBf16 ? ones<__nv_bfloat16>(kShared) : ones<float>(kShared);
    tensor.bytes.assign(tensor.bytes.size(), 0);
    tensor.upload();
  }
  const contracts::Device<uint8_t> given(image);
  contracts::Device<uint8_t> dump(kShared);
  contracts::Device<int> completed(1);
  once<<<1, 128>>>(tensor.map, one.operation, corner, tensor.box_bytes(), given.get(), dump.get(), completed.get());
  cudaError_t error = cudaGetLastError();
  error = error == cudaSuccess ? cudaDeviceSynchronize() : error;
  if (error != cudaSuccess) {
    return {error, -1, ""};
  }
  std::vector<uint8_t> shared = image, global = tensor.bytes;
  if (one.operation == kLoad) {
    shared = tensor.image(corner, kShared);
  } else if (one.operation != kPrefetch) {
    tensor.each_byte(corner, [&](uint32_t row, uint32_t column, int64_t to) {
      if (to >= 0) {
        global[to] = image[tensor.box_byte(row, column)];
      }
    });
  }
  Tally tally;
  const auto nowhere = [] { return std::string(); };
  const std::vector<uint8_t> got_shared = dump.read(), got_global = tensor.memory->read();
  for (size_t i = 0; i < shared.size(); ++i) {
    tally.equal(shared[i], got_shared[i], nowhere);
  }
  for (size_t i = 0; i < global.size(); ++i) {
    tally.equal(global[i], got_global[i], nowhere);
  }
  tally.equal(1, completed.read()[0], nowhere);
  return {error, static_cast<long long>(tally.wrong()), ""};
}

// Says the outcome of a case and ends the process.
[[noreturn]] void run_case(int number) {
  const Case& one = kCases[number];
  const Outcome outcome = one.kind == kBf16    ? attempt<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64>(one)
                          : one.kind == kFloat ? attempt<CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 32>(one)
                                               : attempt<CU_TENSOR_MAP_DATA_TYPE_UINT8, Swizzle::b128, 128>(one);
  contracts::tell_parent(text("%d %lld %s", outcome.error, outcome.wrong, outcome.fault.c_str()));
  contracts::leave_child();
}

// ---- in the program itself ----

// Runs this program for one case, at most until `end`.
Outcome spawn_case(int number, Clock::time_point end) {
  const contracts::Answer answer = contracts::ask_child({"--case", std::to_string(number)}, end);
  Outcome outcome;
  outcome.fault = answer.fault;
  if (outcome.fault.empty() &&
      (std::sscanf(answer.said.c_str(), "%d %lld", &outcome.error, &outcome.wrong) != 2 || outcome.error < 0)) {
    outcome.fault = "said: " + answer.said;
  }
  return outcome;
}

std::string told(const Case& one, const Outcome& outcome) {
  return one.name() + ": " +
         (outcome.fault.empty()
              ? text("%s, %lld bytes wrong", cudaGetErrorName(static_cast<cudaError_t>(outcome.error)), outcome.wrong)
              : outcome.fault);
}

void check(contracts::Checks& checks) {
  Tally answered, right, refused[kOperations];
  const Clock::time_point last = Clock::now() + kAll;
  for (int i = 0; i < kCount; ++i) {
    const Case& one = kCases[i];
    const Outcome outcome = spawn_case(i, std::min(last, Clock::now() + kLongest));
    const auto where = [&] { return told(one, outcome); };
    answered.holds(outcome.fault.empty(), where);
    if (one.legal()) {
      right.holds(outcome.error == cudaSuccess && outcome.wrong == 0, where);
    } else {
      refused[one.operation].holds(outcome.error == cudaErrorIllegalInstruction, where);
    }
  }
  checks.report("tma-alignment", "every case of an inner coordinate gives an answer", answered);
  checks.report("tma-alignment", "loads, stores, reductions, prefetches at inner multiples of 16 bytes: right", right);
  for (int i = 0; i < kOperations; ++i) {
    checks.report("tma-alignment",
                  text("%s at inner coordinates off 16 bytes: cudaErrorIllegalInstruction", kOperationNames[i]), refused[i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--case") == 0) {
    const int number = std::atoi(argv[2]);
    if (number >= 0 && number < kCount) {
      run_case(number);
    }
  }
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
