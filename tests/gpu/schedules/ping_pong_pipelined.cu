// The schedule "ping-pong-pipelined" is attention.
#include "../../../src/ptxbench/packs/data/schedules/snippets/ping_pong_pipelined.cu"

#include "attention.hpp"

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    try_forward<decltype(&ping_pong_pipelined), Shared, Problem>(checks, "ping-pong-pipelined", &ping_pong_pipelined);
  }
  return checks.status();
}
