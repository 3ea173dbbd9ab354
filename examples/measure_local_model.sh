#!/bin/sh
# Measure one model of an OpenAI-compatible server on every CPU task: 2 trajectories of 3 turns each, then the report.
# Interrupt it and run it again as often as you like: it goes on where it stopped.
#
#   OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none examples/measure_local_model.sh MODEL [DIRECTORY]
set -eu
model=${1:?usage: measure_local_model.sh MODEL [DIRECTORY]}
directory=${2:-runs/cpu-tasks}
ptxbench run --model "openai/$model" --out "$directory" --trajectories 2 --turns 3 \
  --task cpu_gemm_n256_k256 --task cpu_softmax_n1024 \
  --task cpu_mha_with_lse_d64 --task cpu_mha_with_lse_d64_causal \
  --task cpu_mha_bwd_d64 --task cpu_mha_bwd_d64_causal
ptxbench report "$directory"
