"""The CPU models of shared memory, descriptors, fragments and barriers, and the headers' arithmetic, against Python's own."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "models"
INCLUDE = Path(__file__).parents[2] / "src" / "ptxbench" / "packs" / "data" / "include"
SPANS = {0: 16, 1: 128, 2: 64, 3: 32}
"""Bytes across a box, by the swizzle's number in a descriptor."""
START = 3 * 1024
WITHOUT_CUDA = ["-D__device__=", "-D__host__=", "-D__forceinline__=inline", "-D__cvta_generic_to_shared(p)=((p) != nullptr)"]

Probe = Callable[..., list[str]]


@pytest.fixture(scope="module")
def probe(tmp_path_factory) -> Probe:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    program = tmp_path_factory.mktemp("models") / "probe"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", *WITHOUT_CUDA, f"-I{INCLUDE}"]
    done = subprocess.run([compiler, *flags, str(HERE / "probe.cc"), "-o", str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    def ask(what: str, given: str = "") -> list[str]:
        answer = subprocess.run([str(program), what], input=given, capture_output=True, text=True, check=True)
        return answer.stdout.splitlines()

    return ask


def swizzled(span: int, address: int) -> int:
    """Return where a byte lies, by bits: 128B flips bits 4-6 by bits 7-9, 64B 4-5 by 7-8, 32B bit 4 by bit 7."""
    for low in range({16: 0, 32: 1, 64: 2, 128: 3}[span]):
        if address >> 7 + low & 1:
            address ^= 1 << 4 + low
    return address


def test_swizzles_flip_the_bits_that_the_isa_names_and_lose_no_byte(probe):
    said = [int(line) for line in probe("swizzles")]
    for mode, span in SPANS.items():
        got = said[mode * 4096 : (mode + 1) * 4096]
        assert got == [swizzled(span, address) for address in range(4096)]
        assert sorted(got) == list(range(4096))


def test_rows_of_a_box_lie_a_span_apart_however_narrow_it_is(probe):
    """As measured on an H200; without a swizzle they follow each other."""
    seen = set()
    for line in probe("boxes"):
        mode, width, *places = (int(word) for word in line.split())
        span = SPANS[mode]
        pitch = span if mode else width
        assert places == [swizzled(span, row * pitch + column) for row in range(20) for column in range(width)], (mode, width)
        seen.add((mode, width))
    assert seen == {(mode, width) for mode, span in SPANS.items() for width in range(16, (span if mode else 256) + 1, 16)}


def place_by_boxes(span: int, major: int, size: int, extent: int, depth: int, mn: int, k: int) -> int:
    """Return the byte that TMA gives element (mn, k): boxes of ``span`` bytes in a row, the chunks of each line swizzled."""
    rows, row, along = (extent, mn, k * size) if major == 0 else (depth, k, mn * size)
    box, column = divmod(along, span)
    start = box * rows * span
    line = (START + start + row * span) // 128
    chunk = (start + row * span + column) % 128 // 16
    flipped = chunk ^ line % max(span // 16, 1) if span > 16 else chunk
    return (start + row * span) // 128 * 128 + flipped * 16 + column % 16


def test_descriptors_find_every_element_where_tma_laid_it(probe):
    """All swizzles and both majors; tiles wider than a box, deeper than one instruction, with N no power of two."""
    seen = set()
    slices: list[int] = []
    for line in probe("tiles"):
        kind, *rest = line.split()
        numbers = [int(word) for word in rest]
        if kind == "tile":
            swizzle, major, size, extent, depth, total, *places = numbers
            span = SPANS[swizzle]
            wanted = [place_by_boxes(span, major, size, extent, depth, mn, k) for mn in range(extent) for k in range(depth)]
            assert places == wanted, (swizzle, major, size, extent, depth)
            assert sorted(places) == list(range(0, extent * depth * size, size)) and total == extent * depth * size
            seen.add((swizzle, major, size))
            slices = wanted[::depth]
        else:
            assert numbers == slices[:64], "a warpgroup's slice is the next 64 rows of its tile"
            slices = slices[64:]
    assert seen == {(s, 0, size) for s in SPANS for size in (1, 2, 4)} | {(s, 1, 2) for s in SPANS}


def test_descriptors_hold_their_fields_at_the_bits_of_the_isa(probe):
    draw = random.Random(6)
    rows = [[16 * draw.randrange(1 << 14) for _ in range(3)] + [draw.randrange(8), draw.randrange(4)] for _ in range(300)]
    rows += [[0, 0, 0, 0, 0], [0x3FFF0, 0x3FFF0, 0x3FFF0, 7, 3]]
    for row, line in zip(rows, probe("descriptors", "\n".join(" ".join(map(str, row)) for row in rows)), strict=True):
        address, leading, stride, base, swizzle = row
        fits, word, header, *back = (int(part) for part in line.split())
        assert fits == 1 and back == row
        plain = address // 16 + (leading // 16 << 16) + (stride // 16 << 32) + (swizzle << 62)
        assert header == plain and word == plain + (base << 49)


@pytest.mark.parametrize("row", [[8, 0, 0, 0, 0], [0, 1 << 18, 0, 0, 0], [0, 0, 17, 0, 1], [0, 0, 0, 8, 1]])
def test_descriptors_that_no_bits_can_hold_are_told_from_the_rest(row, probe):
    (line,) = probe("descriptors", " ".join(map(str, row)))
    assert line.split()[0] == "0"


def test_fragments_are_those_of_the_isa(probe):
    """The ISA gives (row, column) of each thread's registers, the model the other way round; together they lose nothing."""
    kinds: dict[str, dict[tuple[int, int], tuple[int, int]]] = {}
    for line in probe("fragments"):
        kind, row, column, thread, index = line.split()
        kinds.setdefault(kind, {})[int(thread), int(index)] = (int(row), int(column))
    assert kinds.keys() == {"d", "a1", "a2", "a4", "m"}
    for thread in range(128):
        group, member = thread % 32 // 4, thread % 4
        for i in range(128):
            wanted = (16 * (thread // 32) + group + 8 * (i % 4 // 2), 8 * (i // 4) + 2 * member + i % 2)
            assert kinds["d"][thread, i] == wanted
        for size in (1, 2, 4):
            words = 4 // size
            for i in range(16 // size):
                word, inside = divmod(i, words)
                row = 16 * (thread // 32) + group + (8 if word in (1, 3) else 0)
                column = words * member + inside + (4 * words if word >= 2 else 0)
                assert kinds[f"a{size}"][thread, i] == (row, column)
    assert len(kinds["d"]) == 64 * 256 and [len(kinds[f"a{size}"]) for size in (1, 2, 4)] == [2048, 1024, 512]
    assert kinds["m"] == {(lane, half): (lane // 4, 2 * (lane % 4) + half) for lane in range(32) for half in range(2)}


def states(probe: Probe, *steps: str) -> list[list[int]]:
    return [[int(word) for word in line.split()] for line in probe("mbarriers", "\n".join(steps))]


def test_a_fresh_barrier_has_passed_parity_one_only(probe):
    assert states(probe, "init 2") == [[0, 2, 0, 1, 0, 1]]


def test_a_phase_waits_for_arrivals_and_bytes_and_then_arms_itself_again(probe):
    done = states(probe, "init 2", "both 96", "complete 64", "arrive 1", "complete 32", "arrive 2")
    assert done == [
        [0, 2, 0, 1, 0, 1],
        [0, 1, 96, 1, 0, 1],
        [0, 1, 32, 1, 0, 1],
        [0, 0, 32, 1, 0, 1],
        [1, 2, 0, 1, 1, 0],
        [2, 2, 0, 1, 0, 1],
    ]


def test_bytes_may_come_before_they_are_expected(probe):
    assert states(probe, "init 1", "complete 48", "both 48")[1:] == [[0, 1, -48, 1, 0, 1], [1, 1, 0, 1, 1, 0]]


@pytest.mark.parametrize("steps", [("init 0",), ("init 1048576",), ("init 2", "arrive 3"), ("init 1", "expect 1048576")])
def test_what_is_undefined_is_told(steps, probe):
    assert states(probe, *steps)[-1][3] == 0


def test_random_histories_agree_with_the_books_kept_phase_by_phase(probe):
    """The model keeps two counters; here each phase's arrivals and bytes are summed from the whole history."""
    draw = random.Random(90)
    for _ in range(20):
        arrivals = draw.randrange(1, 5)
        steps, wanted = [f"init {arrivals}"], [[0, arrivals, 0, 1, 0, 1]]
        phase, history = 0, []
        for _ in range(60):
            came, expected, complete = (sum(n for what, n in history if what in names) for names in KINDS)
            owed = expected - complete
            choices = [("expect", draw.randrange(0, 64)), ("complete", draw.randrange(0, 64))]
            if came < arrivals:
                choices += [("arrive", draw.randrange(1, arrivals - came + 1)), ("both", draw.randrange(0, 64))]
            if owed > 0:
                choices += [("complete", owed)] * 4
            if owed < 0:
                choices += [("expect", -owed)] * 4
            what, count = draw.choice(choices)
            history += [("expect", count), ("arrive", 1)] if what == "both" else [(what, count)]
            came, expected, complete = (sum(n for what, n in history if what in names) for names in KINDS)
            if came == arrivals and expected == complete:
                phase, history, came, expected, complete = phase + 1, [], 0, 0, 0
            steps.append(f"{what} {count}")
            wanted.append([phase, arrivals - came, expected - complete, 1, phase % 2, 1 - phase % 2])
        assert states(probe, *steps) == wanted


KINDS = (("arrive",), ("expect",), ("complete",))


def test_a_ring_fills_no_stage_that_is_in_use_and_never_stops(probe):
    """From one stage on: the producer waits for ``parity ^ 1``, the consumer for ``parity``, both from stage 0 and parity 0."""
    lines = probe("rings")
    assert [int(line.split()[1]) for line in lines] == [1, 2, 3, 8]
    for line in lines:
        events = line.split()[2:]
        holding: dict[int, int] = {}
        used = []
        for event in events:
            what, number, stage = event[:3], *(int(part) for part in event.lstrip("fileus").split("@"))
            if what == "fil":
                assert stage not in holding, "filled before it was used"
                holding[stage] = number
            else:
                assert holding.pop(stage) == number
                used.append(number)
        assert used == list(range(40))
