"""The lexer sees what a compiler sees: splices, digraphs, comments, raw strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxbench.toolchain.policy.directives import header_names, object_macros, read_raw
from ptxbench.toolchain.policy.tokens import Lexer, Token, string_value


def lex(text: str, *, splices: bool = True) -> list[Token]:
    return list(Lexer(text, splices=splices).tokens())


def spellings(text: str, *, splices: bool = True) -> list[str]:
    return [token.text for token in lex(text, splices=splices) if token.kind != "newline"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dl\\\nopen", ["dlopen"]),
        ("dl\\  \r\nopen", ["dlopen"]),
        ("%:define A %:%: B", ["#", "define", "A", "##", "B"]),
        ("a<:0:> <% %>", ["a", "[", "0", "]", "{", "}"]),
        ("<:<:gnu::x:>:>", ["[", "[", "gnu", "::", "x", "]", "]"]),
        ("v<::std::x>", ["v", "<", "::", "std", "::", "x", ">"]),
        ("a/* b */c // d\ne", ["a", "c", "e"]),
        ("a // b \\\nc\nd", ["a", "d"]),
        ("\\u0064lopen", ["dlopen"]),
        ("1'000'000 0x1p+3 .5e-1f", ["1'000'000", "0x1p+3", ".5e-1f"]),
        ("'\"' \"a'b\" '\\''", ["'\"'", '"a\'b"', "'\\''"]),
        ('R"(/* " )" x', ['R"(/* " )"', "x"]),
        ('u8R"q()" )q" x', ['u8R"q()" )q"', "x"]),
        ('R""(a)b)"" x', ['R""(a)b)""', "x"]),
        ('FOOR"(x" y', ["FOOR", '"(x"', "y"]),
        ("don't", ["don", "'t"]),
    ],
)
def test_tokens_are_those_of_translation_phase_three(text: str, expected: list[str]) -> None:
    assert spellings(text) == expected


def test_splice_inside_raw_string_does_not_end_it_and_lines_stay_right() -> None:
    tokens = lex('a\\\nb R"x(\n)\\\nx" )x" c\nd')
    assert [(token.text, token.line) for token in tokens if token.kind == "identifier"] == [("ab", 1), ("c", 5 - 1), ("d", 5)]


def test_preprocessed_text_has_no_splices() -> None:
    assert spellings("dl\\\nopen", splices=False) == ["dl", "\\", "open"]


@pytest.mark.parametrize(
    ("literal", "value"),
    [(r'".inc\x62in"', ".incbin"), (r'"\056\u0061\n"', ".a\n"), ('u8R"(a\\n)"', "a\\n"), ('R"q(a)q"', "a"), ('""', "")],
)
def test_string_value_resolves_escapes(literal: str, value: str) -> None:
    assert string_value(lex(literal)[0]) == value


@given(st.text(alphabet="ab\"'\\\n/*R()#<:%> ", max_size=60))
def test_any_text_is_read_to_its_end_with_rising_lines(text: str) -> None:
    tokens = lex(text)
    lines = [token.line for token in tokens]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


@given(st.lists(st.sampled_from(["int", "a", "(", ")", ";", '"s"', "'c'", "1.5", "->", "::"]), max_size=20), st.data())
def test_splices_between_characters_change_no_token(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    at = data.draw(st.integers(0, len(text)))
    assert spellings(text[:at] + "\\\n" + text[at:]) == spellings(text)


def test_directives_are_found_behind_comments_and_left_out_by_a_literal_zero_only() -> None:
    text = (
        "/* a\n */ # /* b\n */ include <x//y.h>\n#if 0\n#line 1\n#else\n#error don't\n#endif\n#ifdef A\n#include B\n#endif\nx # y\n"
    )
    found = [(one.name, one.line, one.header, one.conditional) for one in read_raw(text).directives]
    assert [one for one in found if one[0] not in ("if", "ifdef", "endif")] == [
        ("include", 2, "<x//y.h>", False),
        ("error", 7, None, True),
        ("include", 10, None, True),
    ]


def test_include_guard_is_no_condition() -> None:
    text = "// guard\n#ifndef TILE_H\n#define TILE_H\n#include <a>\n#ifndef B\n#include <b>\n#endif\n#endif\n"
    found = [(one.header, one.conditional) for one in read_raw(text).directives if one.name == "include"]
    assert found == [("<a>", False), ("<b>", True)]


def test_computed_include_is_followed_through_macros_or_given_up() -> None:
    file = read_raw('#define A B\n#define B "x.h"\n#define B <y/z.h>\n#define F(x) #x\n#include A\n#include F(q)\n#include NONE\n')
    macros = object_macros([file])
    first, second, third = (one for one in file.directives if one.name == "include")
    assert sorted(header_names(first, macros) or []) == ["x.h", "y/z.h"]
    assert header_names(second, macros) is None and header_names(third, macros) is None
