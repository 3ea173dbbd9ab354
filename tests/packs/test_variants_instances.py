"""One instance a wrapper, and what may stand in every arm: which wrappers are instances, and what a schedule's words may name."""

from __future__ import annotations

import pytest

from ptxbench.packs.check import check
from ptxbench.packs.instances import representative, representatives
from ptxbench.packs.loading import load
from ptxbench.packs.parsing import end_of_declaration, parse_header

HEADER = """#pragma once

namespace ptxk {

// The first.
//@ptxk ptx="mma.m8n8" sass="X" variants="n8, n16"
__device__ void mma_n8() {
  asm volatile("{\\n.reg .pred p;\\n}}" ::: "memory");  // a brace } of a comment
}

// Speaks of the second.
// In two lines.
//@ptxk ptx="mma.m8n16"
template <int kN = 16>
__device__ void mma_n16() {
  if (kN > 1) { asm volatile("}"); }
}

//@ptxk ptx="mma.m8n16.rs"
__device__ void mma_n16_rs();

//@ptxk ptx="none"
struct Place2 {
  int a;
};

//@ptxk-hide
//@ptxk ptx="mma.m8n32.hidden"
__device__ void hidden_n32() {}
//@ptxk-show

}  // namespace ptxk
"""


def test_wrappers_alike_but_for_numbers_are_instances_of_the_first_shown():
    assert representatives([parse_header(HEADER, "here")]) == {"mma_n8", "mma_n16_rs", "Place2"}


def test_the_first_may_stand_in_another_header():
    one = parse_header('//@ptxk ptx="mma.m8n24"\n__device__ void mma_n24();\n', "first")
    kept = representatives([one, parse_header(HEADER, "second")])
    assert kept == {"mma_n24", "mma_n16_rs", "Place2"}


def test_an_instance_left_out_is_a_comment_and_takes_its_own_comment_along():
    header = parse_header(HEADER, "here")
    text = representative(header, representatives([header])).shown(comments=True)
    assert "// Likewise mma_n16: mma.m8n16.\n" in text
    assert "Speaks of the second" not in text and "two lines" not in text and "kN" not in text
    assert "// The first.\n// Instances: n8, n16.\n__device__ void mma_n8() {" in text
    assert (
        "__device__ void mma_n16_rs();" in text
        and "struct Place2 {\n  int a;\n};" in text
        and text.endswith("}  // namespace ptxk\n")
    )


def test_all_kept_changes_nothing_but_what_instances_say():
    header = parse_header(HEADER, "here")
    everything = frozenset(wrapper.name for wrapper in header.wrappers)
    assert representative(header, everything).text.replace("// Instances: n8, n16.\n", "") == HEADER


def test_a_declaration_ends_after_its_body_or_semicolon():
    for text, rest in (
        ("void f(int (&d)[4]) { g({1}); } next", " next"),
        ("void f(); next", " next"),
        ("struct S { int a; }; next", " next"),
        ("void f() {}\nvoid g() {}", "\nvoid g() {}"),
        ('void f() { asm("}"); /* } */ } next', " next"),
        ("constexpr int kN = f(3); next", " next"),
    ):
        assert text[end_of_declaration(text, 0) :] == rest


@pytest.mark.parametrize("words", ["Then `mbarrier_try_wait`.", "Then mbarrier_init.", "See [[barrier-init]]."])
def test_a_schedules_words_name_neither_wrappers_nor_contracts(data, words):
    """They stand in every arm, and an arm that lacks both would speak of what is not there."""
    data.page("schedules/ring", f"A ring. {words}\n\n<!-- snippet: ring.cu#ring -->")
    found = {(finding.code, finding.where) for finding in check(load(data.root), None).findings}
    assert ("absent_name", "schedules/ring") in found
    data.page("schedules/ring", f"A ring.\n\n```cpp\n// {words}\n```")
    assert "absent_name" not in {finding.code for finding in check(load(data.root), None).findings}
