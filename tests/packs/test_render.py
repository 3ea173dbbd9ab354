"""A rendering shows what its arm shows, for its device, and the same inputs give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ptxbench.packs.loading import load
from ptxbench.packs.manifest import Arm, Kind
from ptxbench.packs.render import render
from ptxbench.packs.tokens import cost


def test_every_arm_has_what_the_one_before_it_has_and_more(data):
    library = load(data.root)
    arms = (Arm.PARAMETERS, Arm.WRAPPERS, Arm.CONTRACTS)
    texts = {arm: render(library, "small", arm=arm, family="gemm", variant="ring").text for arm in arms}
    for arm, text in texts.items():
        assert "NVIDIA H100" in text and "A ring of stages." in text and "sooner than L2" in text
        assert ("mbarrier_init(uint64_t* barrier" in text) == (arm is not Arm.PARAMETERS)
        assert ("ptxk::mbarrier_init(nullptr, 1)" in text) == (arm is not Arm.PARAMETERS), "code that calls wrappers"
        assert ("Initialise with" in text) == ("arrivals miscounted" in text) == ("Waits." in text) == (arm is Arm.CONTRACTS)
        assert "Write the contract block first." not in text, "guidance is a condition of a run, not of a pack"
    sizes = [len(texts[arm]) for arm in arms]
    assert sizes == sorted(sizes)


def test_the_device_decides_the_parameters_and_nothing_else(data):
    library = load(data.root)
    h100, h200 = (render(library, "small", device=device) for device in ("h100", "h200"))
    assert "3.35 TB/s" in h100.text and "4.8 TB/s" in h200.text and "80 GB" in h100.text and "227 KiB (232,448 B)" in h200.text
    differing = [a.kind for a, b in zip(h100.sections, h200.sections, strict=True) if a != b]
    assert differing == [Kind.PARAMETERS]


def test_base_adds_nothing_and_a_variant_adds_its_schedule(data):
    library = load(data.root)
    plain = render(library, "small")
    assert plain.text == render(library, "small", family="gemm").text
    more = render(library, "small", family="gemm", variant="ring")
    assert {section.fragment for section in more.sections} - {section.fragment for section in plain.sections} == {"schedules/ring"}


def test_snippets_are_code_links_are_words_and_includes_stand_once(data):
    text = render(load(data.root), "small", family="gemm", variant="ring").text
    assert "```cpp\nfor (;;) {\n  ptxk::mbarrier_init(nullptr, 1);\n}\n```" in text
    assert "See “barrier-init” and the ISA." in text and "&full[0]" in text
    assert text.count("#include <cstdint>") == 1
    assert "Barrier-Init (must, documented)" in text


@pytest.mark.parametrize("end", ["\r\n", "\n\n\n"])
def test_line_ends_of_a_checkout_change_no_byte(new_data, end):
    one, other = new_data(), new_data()
    for path in other.root.rglob("*.md"):
        text = path.read_bytes().decode()
        path.write_bytes(text.replace("\n", end).encode() if end == "\r\n" else (text + end).encode())
    assert render(load(one.root), "small").hash == render(load(other.root), "small").hash


def test_other_processes_with_other_hash_seeds_and_folders_give_the_same_bytes(new_data, tmp_path):
    made = set()
    for seed in ("0", "7"):
        copy = new_data()
        command = [sys.executable, "-m", "ptxbench", "packs", "render", "small", "--data", str(copy.root), "--device", "h200"]
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        made.add(subprocess.run(command, capture_output=True, env=env, cwd=tmp_path, check=True, timeout=60).stdout)
    assert len(made) == 1 and b"NVIDIA H200" in made.pop()


def test_declarations_and_nothing_can_be_shown_in_place_of_code(data):
    shown = '[packs.small.shown]\n"include/ptxk/address" = "nothing"\n"include/ptxk/barrier" = "declarations"\n\n[packs.small.var'
    data.replace("manifest.toml", "[packs.small.var", shown)
    text = render(load(data.root), "small").text
    assert "__cvta_generic_to_shared" not in text and "asm volatile" not in text
    assert "// mbarrier.try_wait.parity; kSleep=0,1" in text


def test_tokens_are_split_by_kind_and_the_parts_make_the_whole(data):
    made = render(load(data.root), "small", family="gemm", variant="ring")
    counted = cost(made, 4000)
    assert all(counted.by_kind[kind] > 0 for kind in Kind if kind is not Kind.GUIDANCE)
    assert counted.tokens == sum(counted.by_kind.values()) == sum(part.tokens for part in counted.fragments)
    assert not counted.exact and counted.bytes == len(made.text.encode())
