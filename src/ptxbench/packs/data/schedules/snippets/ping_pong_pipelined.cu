// Attention forward: turns on the tensor cores, and in each warpgroup the softmax of tile j beside the product P(j - 1) V(j - 1).
#include "attention.cuh"

extern "C" __global__ void __launch_bounds__(384, 1)
    ping_pong_pipelined(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
                        const __grid_constant__ CUtensorMap map_v, Problem problem) {
  extern __shared__ uint8_t raw[];
  Shared& shared = aligned_shared<Shared>(raw);
  initialise(shared);
  if (threadIdx.x / 128 == 0) {
    setmaxnreg_dec<24>();
    if (threadIdx.x == 0) {
      produce(shared, &map_q, &map_k, &map_v, problem);
    }
    return;
  }
  setmaxnreg_inc<240>();
  const int consumer = threadIdx.x / 128 - 1;
  const int query = place(problem).query + consumer * 64, tiles = place(problem).tiles;
  const float scale_log2 = problem.scale * 1.4426950408889634f;
  const auto take_turn = [&] { named_barrier_sync<256>(kTurn + consumer); };
  const auto give_turn = [&] { named_barrier_arrive<256>(kTurn + 1 - consumer); };
  const auto release = [](uint64_t* empty) {
    if (threadIdx.x % 128 == 0) {
      mbarrier_arrive(empty);
    }
  };
  // [start]
  float s[kKeys / 64][32], o[kD / 64][32] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {}, alpha[2];
  uint32_t p[kKeys / 16][4];
  Ring<kStages> k, v;              // V is one tile behind
  if (consumer == 1) give_turn();  // consumer 0 begins
  mbarrier_wait_parity(&shared.full_q, 0);
  mbarrier_wait_parity(&shared.full_k[k.stage], k.parity);
  take_turn();  // named_barrier_sync<256>(kTurn + consumer)
  issue_abt<kQueries, kKeys>(s, shared.q, shared.k[k.stage], consumer);
  give_turn();  // named_barrier_arrive<256>(kTurn + 1 - consumer)
  wgmma_wait<0>();
  settle(s);
  release(&shared.empty_k[k.stage]);  // thread 0 of the warpgroup arrives
  mask(s, 0, query, problem);
  softmax(s, m, l, alpha, scale_log2);
  pack(p, s);
  // [/start]
  // [loop]
  for (int j = 1; j < tiles; ++j) {  // to the last tile
    k.advance();
    mbarrier_wait_parity(&shared.full_k[k.stage], k.parity);
    mbarrier_wait_parity(&shared.full_v[v.stage], v.parity);
    take_turn();
    issue_abt<kQueries, kKeys>(s, shared.q, shared.k[k.stage], consumer);  // S(j)
    issue_pb<kKeys>(o, p, shared.v[v.stage]);                              // O += P(j - 1) V(j - 1)
    give_turn();
    wgmma_wait<1>();  // S(j) is there; O and p are in use until the next wait
    settle(s);
    release(&shared.empty_k[k.stage]);
    mask(s, j * kKeys, query, problem);
    softmax(s, m, l, alpha, scale_log2);
    wgmma_wait<0>();
    settle(o);
    release(&shared.empty_v[v.stage]);
    v.advance();
    rescale(o, alpha);  // O has all tiles before j, by the old maximum
    pack(p, s);         // P(j) for the next round
  }
  // [/loop]
  // [end]
  mbarrier_wait_parity(&shared.full_v[v.stage], v.parity);
  take_turn();
  issue_pb<kKeys>(o, p, shared.v[v.stage]);  // the last P V
  if (consumer == 0) give_turn();            // consumer 1's last turn has no taker
  wgmma_wait<0>();
  settle(o);
  // [/end]
  finish(o, m, l, problem, query);
}
