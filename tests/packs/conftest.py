"""A small pack of two headers, two contracts, a schedule with a snippet and a table of symptoms."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).parents[2] / "src")

MANIFEST = """schema_version = 1

[packs.small]
title = "Small"
arch = "sm_90a"
devices = ["h100", "h200"]
budget_tokens = 4000
fragments = ["@headers", "contracts/", "debug/hangs", "parameters/latencies"]
guidance = ["guidance/careful"]

[packs.small.variants.gemm]
base = []
ring = ["schedules/ring"]

[groups]
headers = ["include/ptxk/address", "include/ptxk/barrier"]
"""

ADDRESS = """// Places in shared memory.
#pragma once
#include <cstdint>

namespace ptxk {

// A pointer as the address that PTX takes.
//@ptxk ptx="" sass="" contracts=barrier-init
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {  // "not a string
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace ptxk
"""

BARRIER = """#pragma once
#include <cstdint>
#include "address.cuh"

namespace ptxk {

//@ptxk ptx="mbarrier.init.shared::cta.b64" sass="SYNCS.EXCH.64" contracts=barrier-init,barrier-wait
__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;  // counted" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

//@ptxk-hide
template <int N>
__device__ void mbarrier_repeated() {}
//@ptxk-show

/* Waits. */
//@ptxk ptx="mbarrier.try_wait.parity" contracts=barrier-wait variants="kSleep=0,1"
template <int kSleep, typename T = Pair<int, Pair<int, int>>>
[[nodiscard]] __device__ bool mbarrier_try_wait(uint64_t* barrier,
                                                uint32_t parity) {
  return true;
}

}  // namespace ptxk
"""

CONTRACT = """+++
id = "{id}"
title = "{title}"
arch = ["sm_90a"]
wrappers = ["mbarrier_init"]
level = "must"
status = "documented"
sources = [{{doc = "PTX ISA", version = "9.0", section = "mbarrier.init"}}]
{more}
+++
{body}
"""

PAGE = """+++
id = "{id}"
title = "{title}"
{more}
+++
{body}
"""

SNIPPET = """#include <ptxk/barrier.cuh>
__global__ void kernel() {
  // [ring]
  for (;;) {
    ptxk::mbarrier_init(nullptr, 1);
  }
  // [/ring]
}
"""


class PackData:
    """A folder of pack data that a test may change before it is read."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def contract(self, id: str, body: str, more: str = "") -> None:
        self.write(f"contracts/{id}.md", CONTRACT.format(id=id, title=id.title(), body=body, more=more))

    def page(self, name: str, body: str, more: str = "") -> None:
        id = name.rpartition("/")[2]
        self.write(f"{name}.md", PAGE.format(id=id, title=id.title(), body=body, more=more))


@pytest.fixture
def new_data(tmp_path: Path) -> Callable[[], PackData]:
    """Return a function that makes the small pack anew, each time in a folder of its own."""
    made = []

    def make() -> PackData:
        data = PackData(tmp_path / f"data-{len(made)}")
        made.append(data)
        data.write("manifest.toml", MANIFEST)
        data.write("include/ptxk/address.cuh", ADDRESS)
        data.write("include/ptxk/barrier.cuh", BARRIER)
        data.contract("barrier-init", "Initialise with `mbarrier_init` once.\n\n```cpp\nptxk::mbarrier_init(&full[0], 1);\n```")
        data.contract(
            "barrier-wait", "See [[barrier-init]] and [the ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/)."
        )
        data.page(
            "schedules/ring",
            "A ring of stages.\n\n<!-- snippet: ring.cu#ring -->\n\nThen wait.",
            'needs = ["mbarrier.init"]',
        )
        data.write("schedules/snippets/ring.cu", SNIPPET)
        data.page("debug/hangs", "| symptom | cause |\n|---|---|\n| hang | arrivals miscounted |")
        data.page("parameters/latencies", "Shared memory answers sooner than L2.")
        data.page("guidance/careful", "Write the contract block first.")
        return data

    return make


@pytest.fixture
def data(new_data: Callable[[], PackData]) -> PackData:
    """The small pack."""
    return new_data()


@pytest.fixture
def packs(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs ``ptxbench packs`` in the test's folder, with variables of its own."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "ptxbench", "packs", *arguments]
        env = {**os.environ, "PYTHONPATH": path, **variables}
        return subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=60)

    return run
