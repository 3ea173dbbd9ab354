"""What the contracts of mbarriers say of wrong uses happens in the state machine: which waits hang, and which pass too early."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ptxbench.packs.loading import DATA
from ptxbench.packs.page import parse_page

INCLUDE = DATA / "include"
BARRIER = DATA / "contracts" / "barrier"
TMA = DATA / "contracts" / "tma"

CLAIMS: dict[str, tuple[Path, str, str]] = {
    "too_many_bytes": (
        BARRIER / "mbarrier-expect-tx.md",
        "too many bytes: hang",
        "Mbarrier b(1); b.arrive_expect(192); b.complete(64); b.complete(64); return !b.passed(0) && b.legal();",
    ),
    "too_few_bytes": (
        BARRIER / "mbarrier-expect-tx.md",
        "Too few: the phase ends before the last copy",
        "Mbarrier b(1); b.arrive_expect(64); b.complete(64); return b.passed(0);  // the second copy is still under way",
    ),
    "too_few_bytes_later": (
        BARRIER / "mbarrier-expect-tx.md",
        "a later phase hangs",
        """Mbarrier b(1);
  for (int round = 0; round < 3; ++round) { b.arrive_expect(64); b.complete(64); b.complete(64); }
  return b.phase() < 3 && b.pending() == 0;  // the third round's arrival came, its bytes came twice, and it does not end""",
    ),
    "early_bytes": (
        BARRIER / "mbarrier-expect-tx.md",
        "Bytes may land before it, a peer's too: without this arrival the phase does not end.",
        "Mbarrier b(1); b.complete(64); const bool early = b.passed(0); b.arrive_expect(64); return !early && b.passed(0);",
    ),
    "edge_tile": (
        TMA / "tma-bounds.md",
        "fewer bytes for the last tile: its phase ends early",
        "Mbarrier b(1); b.arrive_expect(96); b.complete(64); b.complete(32); return b.passed(0) && b.transaction() == 0;",
    ),
    "count_of_threads": (
        BARRIER / "mbarrier-arrive.md",
        "a count of all threads for that: hang",
        "Mbarrier b(128); for (int warp = 0; warp < 4; ++warp) b.arrive(); return !b.passed(0);",
    ),
    "arrivals_of_threads": (
        BARRIER / "mbarrier-arrive.md",
        "All threads on a count of warps: undefined, phases run ahead",
        "Mbarrier b(4); for (int thread = 0; thread < 128; ++thread) b.arrive(); return b.phase() == 32;",
    ),
    "initialised_again": (
        BARRIER / "mbarrier-init.md",
        "the phase falls back to 0",
        "Mbarrier b(1); b.arrive(); b = Mbarrier(1); return !b.passed(0) && b.passed(1);",
    ),
    "two_phases_behind": (
        BARRIER / "mbarrier-wait.md",
        "two phases behind: it hangs or takes an old phase for the new one",
        "Mbarrier b(1); b.arrive(); b.arrive(); return !b.passed(0);  // phase 0 has ended, and its parity waits for phase 2",
    ),
    "one_parity": (
        BARRIER / "ring-parity.md",
        "`ring.parity` on both sides: hang in the first round",
        "Mbarrier empty(1); Ring<4> ring; return !empty.passed(ring.parity) && empty.passed(ring.parity ^ 1);",
    ),
    "ring_anew": (
        BARRIER / "ring-parity.md",
        "A new ring for each tile of a persistent kernel: hang or old data",
        """Mbarrier full(1); Ring<1> ring;
  full.arrive_expect(64); full.complete(64); ring.advance();  // a tile of one step
  full.arrive_expect(64);
  return full.passed(Ring<1>().parity) && !full.passed(ring.parity);  // a new ring reads before the bytes came""",
    ),
    "whole_warp_loads": (
        TMA / "tma-load.md",
        "32 times the bytes, phases end wrongly or never",
        """Mbarrier b(1); b.arrive_expect(64);
  for (int lane = 0; lane < 32; ++lane) b.complete(64);
  b.arrive_expect(64);
  return b.phase() == 1 && b.transaction() < 0;""",
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_stands_in_its_contract(name):
    page, words, _ = CLAIMS[name]
    body = " ".join(parse_page(page.read_text(encoding="utf-8"), page.name).body.split())
    assert words in body


def test_the_state_machine_does_what_the_contracts_say_of_wrong_uses(tmp_path):
    """The model is constant-evaluated: a claim that does not hold does not compile, and is named."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    source = tmp_path / "claims.cc"
    claims = [
        f'constexpr bool {name}() {{\n  {body}\n}}\nstatic_assert({name}(), "{name}");\n' for name, (_, _, body) in CLAIMS.items()
    ]
    head = '#include "ptxk/model/mbarrier.hpp"\n#include "ptxk/common/ring.cuh"\nusing namespace ptxk;\nusing model::Mbarrier;\n'
    source.write_text(head + "\n".join(claims), encoding="utf-8")
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D__device__=", "-D__host__=", f"-I{INCLUDE}"]
    done = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True)
    failed = re.findall(r"static assertion failed: (\w+)", done.stderr)
    assert failed == [] and done.returncode == 0, done.stderr[-3000:]
