// The schedule "two-kernel" gives the gradients of attention.
#include "../../../src/ptxbench/packs/data/schedules/snippets/backward.cu"

#include "attention.hpp"

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (!checks.on_device()) {
    return checks.status();
  }
  constexpr int kBytes = shared_bytes<Shared>;
  CUDA_MUST(allow_shared(d_keys_values, kBytes));
  CUDA_MUST(allow_shared(d_queries, kBytes));
  contracts::Random random(13);
  contracts::Tally dots, gradients;
  for (const int length : {128, 256, 384, 640}) {
    for (const bool causal : {false, true}) {
      Attention of(2, length, causal, length == 256 ? 0.5 : 0.08838834764, random);
      of.backward();
      const int rows = of.heads * length;
      std::vector<__nv_bfloat16> rounded(of.o.size());
      for (size_t i = 0; i < rounded.size(); ++i) rounded[i] = __float2bfloat16(static_cast<float>(of.o[i]));
      const contracts::Device<__nv_bfloat16> q(of.q), k(of.k), v(of.v), d_o(of.d_o), o(rounded);
      const contracts::Device<float> lse(std::vector<float>(of.lse.begin(), of.lse.end()));
      contracts::Device<float> delta(rows), d_q(of.o.size()), d_k(of.o.size()), d_v(of.o.size());
      const auto pairs = [](const contracts::Device<__nv_bfloat16>& x) { return reinterpret_cast<const __nv_bfloat162*>(x.get()); };
      row_dots<<<rows / 8, 256>>>(pairs(o), pairs(d_o), delta.get(), rows);
      CUDA_FINISH("row_dots");
      compare(dots, "delta", of, of.delta, delta.read(), 0.01);
      const Problem problem{lse.get(), delta.get(), length, static_cast<float>(of.scale), causal};
      const dim3 grid(length / kOwned, of.heads);
      d_keys_values<<<grid, 384, kBytes>>>(map_of<kOwned>(k, rows, kD), map_of<kOwned>(v, rows, kD),
                                                        map_of<kOther>(q, rows, kD), map_of<kOther>(d_o, rows, kD), d_k.get(),
                                                        d_v.get(), problem);
      CUDA_FINISH("d_keys_values");
      d_queries<<<grid, 384, kBytes>>>(map_of<kOwned>(q, rows, kD), map_of<kOwned>(d_o, rows, kD),
                                                    map_of<kOther>(k, rows, kD), map_of<kOther>(v, rows, kD), d_q.get(), problem);
      CUDA_FINISH("d_queries");
      compare(gradients, "dQ", of, of.d_q, d_q.read(), 0.02);
      compare(gradients, "dK", of, of.d_k, d_k.read(), 0.02);
      compare(gradients, "dV", of, of.d_v, d_v.read(), 0.02);
    }
  }
  checks.report("two-kernel", "rowsum(dO * O)", dots);
  checks.report("two-kernel", "dQ, dK, dV", gradients);
  return checks.status();
}
