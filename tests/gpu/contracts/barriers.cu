// Named barriers between producers and consumers, and the elected lane of a warp (PTX ISA, "bar, barrier", "elect.sync").
#include "bounded.cuh"
#include "check.hpp"
#include "ptxk/sm90/barrier.cuh"
#include "ptxk/sm90/elect.cuh"

using contracts::Tally;
using contracts::text;

namespace {

constexpr int kRounds = 500;
constexpr int kSide = 64;  // threads that produce, and that consume

// Barriers `full` and `full + 1`: producers arrive on the first when the buffer is full and wait on the second until it is empty.
// Now and then one side comes late.
__global__ void produce_and_consume(int full, uint32_t* consumed) {
  __shared__ uint32_t buffer[kSide];
  const int place = threadIdx.x % kSide;
  for (uint32_t round = 0; round < kRounds; ++round) {
    if ((round + threadIdx.x / kSide * 5) % 32 == 0) {
      contracts::pause_ns(500);
      __syncwarp();
    }
    if (threadIdx.x < kSide) {
      ptxk::named_barrier_sync<2 * kSide>(full + 1);
      buffer[place] = round * 1000003u + place;
      ptxk::named_barrier_arrive<2 * kSide>(full);
    } else {
      ptxk::named_barrier_arrive<2 * kSide>(full + 1);
      ptxk::named_barrier_sync<2 * kSide>(full);
      consumed[round * kSide + place] = buffer[kSide - 1 - place];
    }
  }
}

// Two halves of a block, each with a barrier of its own for its own number of rounds: neither waits for the other.
__global__ void halves(uint32_t* sums) {
  __shared__ uint32_t values[2][128];
  const int half = threadIdx.x / 128, place = threadIdx.x % 128;
  uint32_t sum = 0;
  for (int round = 0; round < (half ? 300 : 100); ++round) {
    values[half][place] = round + place;
    ptxk::named_barrier_sync<128>(14 + half);
    sum += values[half][(place + round) % 128];
    ptxk::named_barrier_sync<128>(14 + half);
  }
  sums[threadIdx.x] = sum;
}

// Two warpgroups take turns: each waits on its own barrier, works, and arrives on the other's. The second gives the first turn.
__global__ void take_turns(uint32_t* order) {
  __shared__ volatile uint32_t count;
  const int turn = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  if (turn == 1) {
    ptxk::named_barrier_arrive<256>(1);
  }
  for (int round = 0; round < kRounds; ++round) {
    ptxk::named_barrier_sync<256>(1 + turn);
    if (threadIdx.x % 128 == 0) {
      const uint32_t place = count;
      order[place] = turn;
      count = place + 1;
    }
    __syncwarp();
    ptxk::named_barrier_arrive<256>(2 - turn);
  }
}

// How often each lane was elected, by whole warps, inside a branch that a warp takes as one.
__global__ void elections(uint32_t* elected) {
  for (int round = 0; round < 100; ++round) {
    if ((round + threadIdx.x / 32) % 2 == 0) {
      elected[threadIdx.x] += ptxk::elect_one();
    }
    __syncwarp();
  }
}

void barriers(contracts::Checks& checks) {
  Tally handed, apart;
  contracts::Device<uint32_t> consumed(kRounds * kSide), sums(256);
  for (int full = 1; full <= 14; ++full) {
    consumed.poison();
    produce_and_consume<<<1, 2 * kSide>>>(full, consumed.get());
    CUDA_FINISH("produce_and_consume");
    const std::vector<uint32_t> got = consumed.read();
    for (uint32_t i = 0; i < kRounds * kSide; ++i) {
      const uint32_t expected = i / kSide * 1000003u + (kSide - 1 - i % kSide);
      handed.equal(expected, got[i],
                   [&] { return text("barriers %d and %d, round %u, word %u", full, full + 1, i / kSide, i % kSide); });
    }
  }
  checks.report("named-barrier", "arrive and sync hand a buffer to and fro, barriers 1 to 15", handed);
  halves<<<1, 256>>>(sums.get());
  CUDA_FINISH("halves");
  const std::vector<uint32_t> got = sums.read();
  for (int thread = 0; thread < 256; ++thread) {
    uint32_t expected = 0;
    for (int round = 0; round < (thread / 128 ? 300 : 100); ++round) {
      expected += round + (thread % 128 + round) % 128;
    }
    apart.equal(expected, got[thread], [&] { return text("thread %d", thread); });
  }
  checks.report("named-barrier", "parts of a block meet by themselves", apart);
  contracts::Device<uint32_t> order(2 * kRounds);
  take_turns<<<1, 256>>>(order.get());
  CUDA_FINISH("take_turns");
  const std::vector<uint32_t> turns = order.read();
  Tally alternate;
  for (uint32_t i = 0; i < 2 * kRounds; ++i) {
    alternate.equal(i % 2, turns[i], [&] { return text("turn %u", i); });
  }
  checks.report("named-barrier", "two warpgroups take turns, the first one first", alternate);
}

void elect(contracts::Checks& checks) {
  constexpr int kThreads = 256;
  contracts::Device<uint32_t> elected(std::vector<uint32_t>(kThreads, 0));
  elections<<<1, kThreads>>>(elected.get());
  CUDA_FINISH("elections");
  const std::vector<uint32_t> times = elected.read();
  Tally once;
  int lane = -1;
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    uint32_t total = 0, most = 0;
    for (int i = 0; i < 32; ++i) {
      total += times[warp * 32 + i];
      if (times[warp * 32 + i] > most) {
        most = times[warp * 32 + i];
        lane = i;
      }
    }
    once.holds(total == 50 && most == 50, [&] { return text("warp %d: %u elections of 50, %u of one lane", warp, total, most); });
  }
  checks.report("elect-converged", "one lane each time, the same each time", once, text("lane %d", lane));
}

}  // namespace

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    barriers(checks);
    elect(checks);
  }
  return checks.status();
}
