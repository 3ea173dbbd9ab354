// TMA stores and additions: every byte of the tensor and of the gaps and guards around it (PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "cp.async.bulk.wait_group"), in groups by where the boxes lie. What the manuals do not promise of
// stores may end the CUDA context, so each group runs in a process of its own: this program, started with --group, a number, 0 or 1
// for additions, and the first tensor to try, answers in one line for each tensor.
#include <algorithm>
#include <iterator>

#include "children.hpp"
#include "store_once.cuh"

using contracts::attempt;
using contracts::Clock;
using contracts::Group;
using contracts::Outcome;
using contracts::Random;
using contracts::Tally;
using contracts::text;
using ptxk::Swizzle;

namespace {

constexpr int kTries = 3;                           // processes of one group: one more for each error, which ends a process
constexpr auto kLongest = std::chrono::seconds(6);  // of one process, which takes some 0.5 s
constexpr auto kAll = std::chrono::seconds(24);     // of all: the program itself has 30 s

const char* const kOperationNames[] = {"stores", "additions of eight blocks"};

const char* const kTailNames[contracts::kTails] = {"unlike_before_bytes", "unlike_box_bytes", "unlike_zero_bytes"};

using Attempt = Outcome (*)(Group, Random&);
// Every rank first, so that few processes tell most where one tensor ends them.
constexpr Attempt kStores[] = {
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 32>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 64>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 5, 6>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b32, 16, 3, 4, 3>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 8, 3, 2, 3, 2>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::b64, 16, 24>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_UINT8, Swizzle::b32, 32, 48>,
    attempt<uint8_t, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::none, 64, 16>,
};
constexpr Attempt kAdditions[] = {
    attempt<float, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::none, 32, 16>,
    attempt<int32_t, CU_TENSOR_MAP_DATA_TYPE_INT32, Swizzle::none, 32>,
    attempt<__half, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, Swizzle::b64, 32, 4, 3>,
    attempt<float, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Swizzle::b128, 32, 2, 3, 2>,
    attempt<int32_t, CU_TENSOR_MAP_DATA_TYPE_INT32, Swizzle::none, 8, 2, 3, 2, 2>,
    attempt<__nv_bfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 16>,
};

int tensors(bool add) { return add ? std::size(kAdditions) : std::size(kStores); }

[[noreturn]] void run_group(Group group, bool add, int first) {
  for (int i = first; i < tensors(add); ++i) {
    Random random(0x5704E + (group * 2 + add) * 64 + i);
    const Outcome outcome = (add ? kAdditions : kStores)[i](group, random);
    contracts::tell_parent(outcome.line());
    if (outcome.error != cudaSuccess) {
      break;
    }
  }
  contracts::leave_child();
}

// ---- in the program itself ----

// What is known of a group: an outcome of each tensor that was tried.
struct Known {
  std::vector<Outcome> outcomes;
  int untried = 0;
  std::string fault;  // of a process that did not come to its end

  bool right() const {
    return fault.empty() && untried == 0 &&
           std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return one.right(); });
  }
};

Known ask(Group group, bool add, Clock::time_point last) {
  Known known;
  known.untried = tensors(add);
  bool broken = true;
  for (int tries = 0; tries < kTries && broken && known.untried > 0 && known.fault.empty(); ++tries) {
    const std::string first = std::to_string(tensors(add) - known.untried);
    const contracts::Answer answer = contracts::ask_child({"--group", std::to_string(group), add ? "1" : "0", first},
                                                          std::min(last, Clock::now() + kLongest));
    known.fault = answer.fault;
    broken = false;
    for (size_t at = 0, end; (end = answer.said.find('\n', at)) != std::string::npos; at = end + 1) {
      Outcome outcome;
      if (!outcome.parse(answer.said.substr(at, end - at)) || known.untried == 0) {
        known.fault = "said: " + answer.said.substr(at, end - at);
        break;
      }
      known.outcomes.push_back(outcome);
      --known.untried;
      broken = outcome.error != cudaSuccess;
    }
    if (!broken && known.untried > 0 && known.fault.empty()) {
      known.fault = "said nothing of some tensors";
    }
  }
  return known;
}

// An error, a map not made, a process without an end are one wrong case each.
void judge(contracts::Checks& checks, const std::string& what, const Known& known) {
  unsigned long long cases = 0, wrong = 0;
  std::string detail;
  for (const Outcome& one : known.outcomes) {
    const bool failed = one.error != cudaSuccess || !one.made;
    cases += one.cases + failed;
    wrong += one.wrong + failed;
    if (!one.right()) {
      detail += (detail.empty() ? "" : "; ") + one.told();
    }
  }
  if (!known.fault.empty()) {
    ++cases;
    ++wrong;
    detail += (detail.empty() ? "" : "; ") + known.fault;
  }
  checks.report("tma-store", what, cases, wrong, detail);
}

// A group that nobody claims and that is not right: figures, so that it is known and refuses no evidence.
void record(contracts::Checks& checks, const std::string& what, const Known& known) {
  std::vector<std::pair<std::string, double>> figures;
  for (const Outcome& one : known.outcomes) {
    if (one.error != cudaSuccess) {
      figures.push_back({one.first + ": cuda_error", one.error});
    } else {
      figures.push_back({(one.first.empty() ? one.name : one.first) + ": wrong_bytes", static_cast<double>(one.wrong)});
    }
  }
  if (!known.fault.empty()) {
    figures.push_back({known.fault.substr(0, 200) + ": processes", 1});
  }
  figures.push_back({"untried_tensors", known.untried});
  checks.measured("tma-store", what + ": not right everywhere, and claimed nowhere", figures);
}

void record_tails(contracts::Checks& checks, bool add, const Known& known) {
  for (const Outcome& one : known.outcomes) {
    if (one.tail > 0) {
      std::vector<std::pair<std::string, double>> figures{{"tail_bytes", static_cast<double>(one.tail)}};
      for (int i = 0; i < contracts::kTails; ++i) {
        figures.push_back({kTailNames[i], static_cast<double>(one.unlike[i])});
      }
      const char* const what = "%s: the rest of the last 16 bytes of ragged rows, %s";
      checks.measured("tma-store", text(what, kOperationNames[add], one.name.c_str()), figures);
    }
  }
}

void check(contracts::Checks& checks) {
  const Clock::time_point last = Clock::now() + kAll;
  Tally maps;
  for (int i = 0; i < contracts::kGroups; ++i) {
    const Group group = static_cast<Group>(i);
    for (const bool add : {false, true}) {
      const Known known = ask(group, add, last);
      for (const Outcome& one : known.outcomes) {
        maps.holds(one.made, [&] { return one.first; });
      }
      const std::string what = text("%s %s", kOperationNames[add], contracts::kGroupNames[group]);
      if (group < contracts::kPromised || known.right()) {
        judge(checks, what, known);
      } else {
        record(checks, what, known);
      }
      if (group == contracts::kRightRagged) {
        record_tails(checks, add, known);
      }
    }
  }
  checks.report("tma-descriptor", "the driver makes every legal map for stores", maps);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--group") == 0) {
    const int group = std::atoi(argv[2]), add = std::atoi(argv[3]), first = std::atoi(argv[4]);
    if (group >= 0 && group < contracts::kGroups && first >= 0) {
      run_group(static_cast<Group>(group), add != 0, first);
    }
  }
  contracts::Checks checks(argc, argv);
  if (checks.on_device()) {
    check(checks);
  }
  return checks.status();
}
