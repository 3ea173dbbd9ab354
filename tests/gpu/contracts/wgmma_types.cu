// Every type of wgmma with both operands in shared memory.
#include "wgmma_forms.cuh"

int main(int argc, char** argv) {
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    contracts::check_forms<false>(checks, "wgmma-types", std::make_integer_sequence<int, contracts::kFormCount>());
    constexpr int kTf32 = 3;
    static_assert(contracts::kForms[kTf32].a == contracts::Type::tf32);
    checks.report("wgmma-types", "tf32: the low 13 bits of float32 are ignored", contracts::try_form<kTf32, 96, false>(0, 0x1FFF));
  }
  return checks.status();
}
