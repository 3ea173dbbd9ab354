"""What pages say was measured is what the evidence and the design page have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ptxbench.arch import measured
from ptxbench.packs.evidence import read
from ptxbench.packs.loading import load

LIBRARY = load()
TREE = Path(__file__).parents[2]
DESIGN = TREE / "docs" / "design" / "gemm-hopper.md"


def body(fragment: str) -> str:
    return " ".join(LIBRARY.fragment(fragment).text.split())


@pytest.fixture(scope="module")
def design() -> dict[str, list[str]]:
    """Return the rows of the design page's table by what was changed: the two ratios, cycles, bytes of memory and through L2."""
    rows = [line.strip("|").split("|") for line in DESIGN.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {row[0].strip(" *"): [cell.strip() for cell in row[2:]] for row in rows if len(row) == 7}


def figures(name: str) -> dict[str, Any]:
    return json.loads((TREE / "evidence" / "h200" / name).read_text(encoding="utf-8"))["figures"]


def turns_of(task: str) -> list[dict[str, Any]]:
    """Return the turns of the reader who wrote a kernel for a task from the pack's text."""
    (turns,) = (reader["turns"] for reader in figures("pack-readers.json")["readers"] if reader["task"].startswith(task))
    return turns


def test_without_the_proxy_fence_no_word_behind_a_barrier_was_stale():
    """The contract says so; should another run see one, the contract is to say that."""
    assert "none of 13 million words behind `__syncthreads()` on an H200" in body("contracts/memory/fence-proxy-async")
    shares = {
        name: share
        for figure in read(LIBRARY)["h200"].figures
        if figure.contract == "fence-proxy-async"
        for name, share in figure.figures.items()
        if name in ("without_fence_share", "fence_in_issuer_alone_share")
    }
    assert shares == {"without_fence_share": 0.0, "fence_in_issuer_alone_share": 0.0}


def test_what_a_cluster_of_two_brought_is_what_the_design_page_measured(design):
    alone, shared = design["C through `stmatrix` and TMA**, two boxes a warp"], design["clusters of two, B by multicast, C by TMA"]
    through = [float(row[-1].removesuffix(" GB")) for row in (alone, shared)]
    assert round(100 * (1 - through[1] / through[0])) == 3 and abs(float(alone[0]) - float(shared[0])) < 0.003
    assert "clusters of two read 3 % fewer bytes through L2 and took the same time" in body("schedules/cluster-multicast")


def test_what_bounds_a_gemm_is_what_the_design_page_measured(design):
    said, text = body("schedules/warp-specialised"), " ".join(DESIGN.read_text(encoding="utf-8").split())
    before, after = (
        design["where it stood: 4-byte stores from the fragments"],
        design["C through `stmatrix` and TMA**, two boxes a warp"],
    )
    assert int(100 * (float(after[0]) / float(before[0]) - 1)) == 8 and "brought 8 %" in said
    memory = [float(row[3].removesuffix(" MB")) for row in (after, design["and **B and C leave L2 first** (as it is now)"])]
    assert round(5 * (1 - memory[1] / memory[0])) == 1 and "cut reads of memory by a fifth" in said
    assert "14 rounds (13.6 filled)" in text and "fill 13.6 of 14 rounds" in said
    assert "1980 MHz" in text and "1.4 to 1.75 GHz" in text and "from 1.98 to 1.4 to 1.75 GHz" in said


def test_what_turns_cost_an_attention_forward_is_what_a_reader_of_the_pack_measured():
    without, with_turns = turns_of("mha_")[:2]
    assert "turns by named barriers" in with_turns["tried"]
    assert round(100 * (without["speedup"] / with_turns["speedup"] - 1)) == 5
    assert "one attention forward on an H200 was 5 % slower with turns than without" in body("contracts/barrier/named-barrier")


def test_what_tiles_ask_of_l2_is_the_device_tables_rate():
    """2 m n FLOP and 2 (m + n) bytes for each step along K."""
    (rate,) = (one.figure for one in measured("h200") if one.name == "l2_read")
    heads, _, row = [line for line in LIBRARY.fragment("contracts/memory/tile-traffic").text.splitlines() if line.startswith("|")]
    tiles = [tuple(map(int, re.findall(r"(\d+) x (\d+)", cell)[0])) for cell in heads.strip("|").split("|")]
    told = [int(re.search(r"\d+", cell)[0]) for cell in row.strip("|").split("|")]
    assert rate.unit == "TB/s" and len(tiles) == 4
    assert told == pytest.approx([rate.value * m * n / (m + n) for m, n in tiles], rel=0.03)


def test_what_a_gemm_gained_is_what_was_measured(design):
    said = body("contracts/memory/tile-traffic")
    kernel = figures("reference-gemm.json")["reference_kernel"][0]
    rate = 2 * kernel["m"] * kernel["n"] * kernel["k"] / kernel["candidate_us"] / 1e6
    assert round(rate, -1) == 750 and "128 x 256 alone reached 750" in said
    alone, pairs = design["C through `stmatrix` and TMA**, two boxes a warp"], design["clusters of two, B by multicast, C by TMA"]
    assert abs(float(alone[0]) - float(pairs[0])) < 0.003 and "pairs the same" in said
    by_pairs, by_fours = turns_of("gemm_")[1:3]
    assert "2 x 2" in by_fours["tried"] and "clusters of two" in by_pairs["tried"]
    assert round(100 * (1 - by_fours["speedup"] / by_pairs["speedup"])) == 3 and "2 x 2 3 % less" in said
    assert "brought 8 %" in said and "a fifth fewer reads of memory" in said and "1.4 to 1.75 GHz" in said


def test_how_fast_orders_of_attentions_products_were_is_what_a_reader_measured():
    said, turns = body("schedules/ping-pong"), turns_of("mha_")
    ratio = {turn["turn"]: f"{turn['speedup']:.2f}" for turn in turns}
    assert (
        f"N = 128 {ratio[0]}; with turns {ratio[1]} and {ratio[3]}; N = 176 {ratio[6]}, and {ratio[7]} in clusters of two" in said
    )
    for turn, tried in {1: "turns", 3: "turns", 6: "176 keys", 7: "clusters of two and lazy"}.items():
        assert tried in turns[turn]["tried"]
    (parts,) = re.findall(r"(\d+) \+ (\d+) \+ (\d+) of 240 for N = (\d+)", said)
    s, o, p, keys = map(int, parts)
    assert (s, o, p) == (keys / 2, 128 / 2, keys / 4)
