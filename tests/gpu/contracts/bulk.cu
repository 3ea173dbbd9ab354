// Bulk copies of runs of bytes: sizes and addresses in steps of 16, nothing beyond them (PTX ISA, "cp.async.bulk",
// "cp.reduce.async.bulk", "cp.async.bulk.prefetch").
#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/sm90/fence.cuh"
#include "ptxk/sm90/tma.cuh"

using contracts::Random;
using contracts::Tally;
using contracts::text;

namespace {

constexpr int kBuffer = 40 * 1024;  // of shared memory, and of each run in global memory
constexpr int kSteps = kBuffer / 16;
constexpr uint32_t kSharedPoison = 0xA5A5A5A5;
constexpr int kAdders = 8;

struct Run {
  int from;  // all in bytes, multiples of 16
  int shared;
  int to;
  int bytes;
};

// Global to shared to global: `dump` gets all of shared memory between the two.
__global__ void copy_through(const uint8_t* from, uint8_t* to, Run run, bool prefetch, uint8_t* dump, int* answers) {
  __shared__ alignas(128) uint32_t buffer[kBuffer / 4];
  __shared__ uint64_t barrier;
  for (int i = threadIdx.x; i < kBuffer / 4; i += blockDim.x) {
    buffer[i] = kSharedPoison;
  }
  ptxk::fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    ptxk::mbarrier_init(&barrier, 1);
    ptxk::fence_mbarrier_init();
  }
  __syncthreads();
  uint8_t* place = reinterpret_cast<uint8_t*>(buffer) + run.shared;
  if (threadIdx.x == 0) {
    if (prefetch) {
      ptxk::bulk_prefetch(from + run.from, run.bytes);
    }
    ptxk::mbarrier_arrive_expect_tx(&barrier, run.bytes);
    ptxk::bulk_load(place, from + run.from, run.bytes, &barrier);
  }
  const bool done = contracts::completes(&barrier, 0);
  for (int i = threadIdx.x; i < kBuffer / 4; i += blockDim.x) {
    reinterpret_cast<uint32_t*>(dump)[i] = buffer[i];
  }
  if (threadIdx.x == 0) {
    answers[0] = done;
    answers[1] = contracts::stays_open(&barrier, 1);
    ptxk::bulk_store(to + run.to, place, run.bytes);  // what TMA wrote: no proxy fence between
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
}

// Each block adds the same floats to the same place.
__global__ void add(float* to, const float* addends, int words, int first) {
  __shared__ alignas(128) float buffer[kBuffer / 4];
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    buffer[first + i] = addends[i];
  }
  ptxk::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptxk::bulk_reduce_add_f32(to, buffer + first, words * 4);
    ptxk::tma_commit();
    ptxk::tma_wait<0>();
  }
}

Run random_run(Random& random, int bytes) {
  const int room = kSteps - bytes / 16;
  return {random.between(0, room) * 16, random.between(0, room) * 16, random.between(0, room) * 16, bytes};
}

void copies(contracts::Checks& checks) {
  Random random(0xB01C);
  std::vector<uint8_t> source(kBuffer);
  for (uint8_t& byte : source) {
    byte = static_cast<uint8_t>(random.next());
  }
  const contracts::Device<uint8_t> from(source);
  contracts::Device<uint8_t> to(kBuffer), dump(kBuffer);
  contracts::Device<int> answers(2);
  Tally loaded, stored, counted, prefetched;
  for (const int bytes : {16, 32, 48, 112, 128, 144, 1024, 2032, 4096, 4112, 16384, kBuffer - 16, kBuffer}) {
    for (int turn = 0; turn < 6; ++turn) {
      const Run run = random_run(random, bytes);
      const bool prefetch = turn >= 4;
      to.poison();
      dump.poison();
      answers.poison();
      copy_through<<<1, 128>>>(from.get(), to.get(), run, prefetch, dump.get(), answers.get());
      CUDA_FINISH("copy_through");
      const std::vector<uint8_t> shared = dump.read(), global = to.read();
      const auto where = [&] { return text("%d bytes, from %d to shared %d to %d", run.bytes, run.from, run.shared, run.to); };
      for (int i = 0; i < kBuffer; ++i) {
        const bool in_shared = i >= run.shared && i < run.shared + bytes, in_global = i >= run.to && i < run.to + bytes;
        const uint8_t there = in_shared ? source[run.from + i - run.shared] : kSharedPoison & 0xFF;
        (prefetch ? prefetched : loaded).equal(there, shared[i], [&] { return where() + text(", byte %d of shared memory", i); });
        const uint8_t left = in_global ? source[run.from + i - run.to] : contracts::kPoison;
        stored.equal(left, global[i], [&] { return where() + text(", byte %d of global memory", i); });
      }
      const std::vector<int> said = answers.read();
      counted.holds(said[0] == 1 && said[1] == 1, [&] { return where() + text(": completed %d, next open %d", said[0], said[1]); });
    }
  }
  checks.report("bulk-alignment", "loads of 16 bytes to 40 KiB, off 128-byte lines: the run and nothing beyond", loaded);
  checks.report("bulk-alignment", "after a prefetch the same", prefetched);
  checks.report("bulk-alignment", "stores of 16 bytes to 40 KiB: the run and nothing beyond", stored);
  checks.report("bulk-alignment", "the barrier completes with exactly the run's bytes", counted);
}

void additions(contracts::Checks& checks) {
  Random random(0xADD);
  Tally added;
  contracts::Device<float> to(kBuffer / 4), addends(kBuffer / 4);
  for (const int bytes : {16, 48, 512, 4112, 16384}) {
    const Run run = random_run(random, bytes);
    std::vector<float> before(kBuffer / 4), values(kBuffer / 4);
    for (int i = 0; i < kBuffer / 4; ++i) {
      before[i] = static_cast<float>(random.between(0, 1000));
      values[i] = static_cast<float>(random.between(-50, 50));
    }
    to.write(before);
    addends.write(values);
    add<<<kAdders, 128>>>(to.get() + run.to / 4, addends.get(), bytes / 4, run.shared / 4);
    CUDA_FINISH("add");
    const std::vector<float> got = to.read();
    for (int i = 0; i < kBuffer / 4; ++i) {
      const int index = i - run.to / 4;
      const bool inside = index >= 0 && index < bytes / 4;
      const float expected = before[i] + (inside ? kAdders * values[index] : 0.0f);
      added.equal(expected, got[i], [&] { return text("%d bytes at %d, word %d", bytes, run.to, i); });
    }
  }
  checks.report("bulk-alignment", "eight blocks add f32 to one run", added);
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    copies(checks);
    additions(checks);
  }
  return checks.status();
}
