// The schedule "ping-pong" is attention.
#include "../../../src/ptxbench/packs/data/schedules/snippets/ping_pong.cu"

#include "attention.hpp"

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    try_forward<decltype(&ping_pong), Shared, Problem>(checks, "ping-pong", &ping_pong);
  }
  return checks.status();
}
