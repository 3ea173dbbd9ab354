"""Prompt variants crossed with arms: every text is one of a kind, within its budget, and shows what its arm and variant promise."""

from __future__ import annotations

import re

import pytest

from ptxbench.packs.loading import load
from ptxbench.packs.manifest import Arm, Kind, kind_of
from ptxbench.packs.page import Page
from ptxbench.packs.parsing import Header, without_comments, words_of
from ptxbench.packs.render import Rendering, render
from ptxbench.packs.tokens import estimate

LIBRARY = load()
HOPPER = LIBRARY.manifest.pack("hopper")
CELLS = [
    (name, arm, family, variant)
    for name, pack in LIBRARY.manifest.packs.items()
    for arm in pack.arms
    for family, variant in pack.cells()
]
VARIANTS = [(family, variant) for family, variants in HOPPER.variants.items() for variant in variants]
CODED = [Arm.WRAPPERS, Arm.CONTRACTS, Arm.REPRESENTATIVE]


def made(name: str, arm: Arm, family: str | None, variant: str) -> Rendering:
    return render(LIBRARY, name, device="h200", arm=arm, family=family, variant=variant)


def needed(family: str, variant: str) -> set[str]:
    """Return the wrappers that a variant's schedules say they need."""
    pages = [LIBRARY.fragment(name).content for name in LIBRARY.resolve(HOPPER.variant(family, variant))]
    return {need for page in pages if isinstance(page, Page) for need in page.front.needs}


def definitions(text: str, name: str) -> int:
    """Return how many functions of a name the code of a text defines."""
    code = without_comments("\n".join(re.findall(r"^```cpp\n(.*?)^```$", text, re.M | re.S)))
    return len(re.findall(rf"(?:void|bool|float|uint\d+_t|uint4|cudaError_t) {name}\(", code))


def test_each_family_has_the_three_prompts_of_the_paper():
    assert {family: tuple(variants) for family, variants in HOPPER.variants.items()} == {
        "gemm": ("base", "cluster-multicast", "warp-specialised"),
        "mha_forward": ("base", "ping-pong", "ping-pong-pipelined"),
        "mha_backward": ("base", "two-kernel", "forward-backward"),
    }
    triton = LIBRARY.manifest.pack("triton-hopper").variants
    assert set(triton) == set(HOPPER.variants) and all(len(variants) == 3 for variants in triton.values())


def test_every_text_renders_twice_to_the_same_bytes_and_no_two_are_the_same():
    texts = [made(*cell) for cell in CELLS]
    assert [text.hash for text in texts] == [
        render(load(), name, device="h200", arm=arm, family=family, variant=variant).hash for name, arm, family, variant in CELLS
    ]
    assert len({text.hash for text in texts}) == len(CELLS)
    assert len({text.key + text.pack for text in texts}) == len(CELLS)


@pytest.mark.parametrize("name", LIBRARY.manifest.packs)
def test_every_text_keeps_to_its_budget(name):
    budget = LIBRARY.manifest.pack(name).budget_tokens
    assert {cell: size for cell in CELLS if cell[0] == name and (size := estimate(made(*cell))) > budget} == {}


@pytest.mark.parametrize("device", HOPPER.devices)
def test_what_every_hopper_prompt_carries_stays_below_23_thousand_tokens(device):
    assert estimate(render(LIBRARY, "hopper", device=device)) < 23_000


def test_a_schedule_is_short():
    """About 1200 tokens; by the estimate, which says more than a tokenizer does of prose, at most 1500."""
    for name, arm, family, variant in CELLS:
        for section in made(name, arm, family, variant).sections:
            if section.kind is Kind.SCHEDULE and section.fragment:
                assert len(section.text) / 3 < 1500, section.fragment


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_arms_grow(family, variant):
    kinds = {arm: {section.kind for section in made("hopper", arm, family, variant).sections} for arm in Arm}
    schedule = set() if variant == "base" else {Kind.SCHEDULE}
    assert kinds[Arm.PARAMETERS] == {Kind.PARAMETERS} | schedule
    assert kinds[Arm.WRAPPERS] == kinds[Arm.PARAMETERS] | {Kind.WRAPPERS}
    assert kinds[Arm.CONTRACTS] == kinds[Arm.REPRESENTATIVE] == kinds[Arm.WRAPPERS] | {Kind.CONTRACTS, Kind.DEBUG}


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_the_arm_of_parameters_has_the_idea_and_no_code(family, variant):
    text = made("hopper", Arm.PARAMETERS, family, variant).text
    wrappers = {wrapper.name for header in headers() for wrapper in header.wrappers}
    assert "```" not in text and "ptxk" not in text
    assert words_of(text) & wrappers == set()
    schedules = [name for name in LIBRARY.resolve(HOPPER.variant(family, variant)) if kind_of(name) is Kind.SCHEDULE]
    assert schedules or variant == "base"
    for name in schedules:
        page = LIBRARY.fragment(name).content
        assert isinstance(page, Page) and f"### {page.front.title}\n" in text


def headers() -> list[Header]:
    contents = [fragment.content for fragment in LIBRARY.fragments(HOPPER)]
    return [content for content in contents if isinstance(content, Header)]


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_the_arm_of_wrappers_has_the_schedules_code_and_nothing_of_contracts(family, variant):
    sections = made("hopper", Arm.WRAPPERS, family, variant).sections
    for section in sections:
        if section.kind is Kind.WRAPPERS:
            assert re.search(r"//|/\*", section.text) is None, section.fragment
        if section.kind is Kind.SCHEDULE and section.fragment and "pipelined" not in section.fragment:
            assert "```cpp" in section.text
    text = "".join(section.text for section in sections)
    contracts = [LIBRARY.fragment(name).content for name in LIBRARY.below("contracts/")]
    assert contracts and not any(isinstance(one, Page) and one.front.title in text for one in contracts)


@pytest.mark.parametrize("arm", CODED)
@pytest.mark.parametrize(("family", "variant"), [cell for cell in VARIANTS if cell[1] != "base"])
def test_what_a_schedule_needs_stands_in_the_text(family, variant, arm):
    text = made("hopper", arm, family, variant).text
    needs = needed(family, variant)
    assert needs
    for name in needs:
        named_only = arm is Arm.REPRESENTATIVE and definitions(text, name) == 0
        assert f"// Likewise {name}: " in text if named_only else definitions(text, name) == 1, name


def test_the_representative_arm_shows_one_instance_of_each_wrapper_and_names_the_others():
    whole, short = (made("hopper", arm, None, "base").text for arm in (Arm.CONTRACTS, Arm.REPRESENTATIVE))
    assert len(short) < len(whole)
    for kept, gone in (("wgmma_m64n64k16_bf16", "wgmma_m64n256k16_bf16"), ("stmatrix_x4", "stmatrix_x2")):
        assert definitions(whole, kept) == definitions(whole, gone) == definitions(short, kept) == 1
        assert definitions(short, gone) == 0 and f"// Likewise {gone}: " in short
    assert definitions(short, "wgmma_m64n64k16_bf16_rs") == 1, "A from registers is another form"
    assert "// Instances: 1d..5d.\n" in short and "// Instances" not in whole
    for section in made("hopper", Arm.CONTRACTS, None, "base").sections:
        if section.kind is not Kind.WRAPPERS:
            assert section.text in short
