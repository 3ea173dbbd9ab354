"""The Triton pack: its code parses, may be submitted, uses only what the pack tells of, and each arm shows its part.

Whether it compiles and computes rightly is in test_triton_compile.py, where Triton is installed.
"""

from __future__ import annotations

import ast
import re

import pytest

from ptxbench.core.errors import PackError
from ptxbench.packs.loading import DATA, load
from ptxbench.packs.manifest import Arm, Kind
from ptxbench.packs.page import FENCE, Page
from ptxbench.packs.render import render
from ptxbench.packs.snippets import snippet_files
from ptxbench.schema import Candidate, Language, Profile, Source
from ptxbench.toolchain.policy.python_source import judge_python

LIBRARY = load()
PACK = LIBRARY.manifest.pack("triton-hopper")
FILES = sorted((DATA / "schedules" / "snippets" / "triton").glob("*.py"))
SCHEDULES = {family: [name for name in variants if name != "base"] for family, variants in PACK.variants.items()}


def names(tree: ast.AST) -> set[str]:
    """Return what a module takes from Triton: ``tl.dot``, ``triton.cdiv``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("tl", "triton"):
            found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_module_may_be_submitted_as_it_stands(path):
    """Under the paper's rules; the strict ones still take ``tl.load`` for NumPy's, which opens files."""
    text = path.read_text(encoding="utf-8")
    assert "run" in {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    source = Source(path="kernel.py", content=text)
    candidate = Candidate(sources=(source,), entry_point="kernel.py::run", language=Language.TRITON, arch="sm_90a")
    broken = list(judge_python(candidate))
    assert [one for one in broken if Profile.PAPER in one.profiles] == []
    assert {one.rule for one in broken} <= {"python_attribute"} and all(".load(" in one.text for one in broken)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_module_uses_only_what_the_pack_tells_of(path):
    told = render(LIBRARY, "triton-hopper").text
    types = {"tl.constexpr", "tl.float32", "tl.int64"}
    used = names(ast.parse(path.read_text(encoding="utf-8"))) - types
    assert {name for name in used if re.search(rf"{re.escape(name)}\b", told) is None} == set()


@pytest.mark.parametrize("family", SCHEDULES)
def test_code_in_pages_parses(family):
    for variant in SCHEDULES[family]:
        text = render(LIBRARY, "triton-hopper", family=family, variant=variant).text
        blocks = [match["code"] for match in FENCE.finditer(text) if match["label"] == "python"]
        assert blocks
        for block in blocks:
            ast.parse(block)


def test_every_module_is_shown_by_some_schedule():
    shown = set()
    for name in LIBRARY.below("triton/schedules/"):
        page = LIBRARY.fragment(name).content
        assert isinstance(page, Page)
        shown |= set(snippet_files(page.body))
    assert shown == {f"triton/{path.name}" for path in FILES}


def test_arms_show_parameters_then_the_language_then_its_rules():
    texts = {arm: render(LIBRARY, "triton-hopper", arm=arm, family="gemm", variant="persistent") for arm in PACK.arms}
    kinds = {arm: {section.kind for section in made.sections} for arm, made in texts.items()}
    assert kinds[Arm.PARAMETERS] == {Kind.PARAMETERS, Kind.SCHEDULE}
    assert kinds[Arm.WRAPPERS] == kinds[Arm.PARAMETERS] | {Kind.WRAPPERS}
    assert kinds[Arm.CONTRACTS] == kinds[Arm.WRAPPERS] | {Kind.CONTRACTS, Kind.DEBUG}
    assert "```" not in texts[Arm.PARAMETERS].text and "@triton.jit" in texts[Arm.WRAPPERS].text
    assert "ptxk" not in texts[Arm.CONTRACTS].text


def test_there_is_no_representative_arm_without_wrappers():
    assert Arm.REPRESENTATIVE not in PACK.arms
    with pytest.raises(PackError, match="has no arm"):
        render(LIBRARY, "triton-hopper", arm=Arm.REPRESENTATIVE)


def test_what_has_a_name_in_both_languages_is_the_same_algorithm():
    """Only what Triton can express has one: the split backward; turns, multicast and register moves have none."""
    cuda = LIBRARY.manifest.pack("hopper")
    both = {family: set(SCHEDULES[family]) & set(cuda.variants[family]) for family in SCHEDULES}
    assert both == {"gemm": set(), "mha_forward": set(), "mha_backward": {"two-kernel", "forward-backward"}}
    for pack in ("hopper", "triton-hopper"):
        text = render(LIBRARY, pack, arm=Arm.PARAMETERS, family="mha_backward", variant="two-kernel").text
        assert "owns 128 keys" in text and "no atomics" in text and "7 products in place of 5" in text
