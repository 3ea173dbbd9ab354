"""Tokens of C++ and CUDA source: translation phases 2 and 3, done properly.

A regular expression over raw text can be got round with a line splice, a digraph, a comment in the middle or a raw string that
looks like a directive; tokens cannot. The same lexer reads a candidate's raw files (with line splices) and what a preprocessor
made of them (without).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["identifier", "number", "string", "char", "punctuator", "newline"]


class Token(NamedTuple):
    r"""One token.

    Attributes:
        kind: what it is. ``newline`` is the end of a logical line (never inside a comment or a raw string).
        text: its spelling: without line splices (but for raw strings, where they are text), digraphs as what they stand for,
            ``\u`` names in identifiers as characters.
        line: the line that it begins on, from 1.
    """

    kind: Kind
    text: str
    line: int


_UCN = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_MASTER = re.compile(
    rf"""
      (?P<space>[ \t\f\v\r\0]+)
    | (?P<newline>\n)
    | (?P<comment>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))
    | (?P<raw>(?:u8|[uUL])?R"[^()\\\s]{{0,16}}\()
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"?)
    | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'?)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.]|{_UCN})*)
    | (?P<identifier>(?:[A-Za-z_$]|[^\x00-\x7f]|{_UCN})(?:[A-Za-z0-9_$]|[^\x00-\x7f]|{_UCN})*)
    | (?P<punctuator>%:%:|%:|<%|%>|<:(?!:[^:>])|:>|\#\#|::|->|[\s\S])
    """,
    re.VERBOSE,
)
_HEADER_NAME = re.compile(r'<[^>\n]*>|"[^"\n]*"')
_SPLICE = re.compile(r"\\[ \t\f\v]*\r?\n")
_DIGRAPHS = {"%:": "#", "%:%:": "##", "<:": "[", ":>": "]", "<%": "{", "%>": "}"}
_NAMED_CHARACTER = re.compile(_UCN)


class Lexer:
    """Reads tokens from ``text`` one after the other; ``position`` and ``line`` say where it stands.

    Args:
        text: source text.
        splices: whether a backslash at a line's end joins it with the next (true for raw source, false after preprocessing).
    """

    def __init__(self, text: str, *, splices: bool) -> None:
        self._physical = text
        self._cuts: list[int] = []
        """Offsets in the logical text at which a splice was cut out."""
        self._removed: list[int] = [0]
        """Characters cut out before the n-th cut."""
        self.text = self._spliced(text) if splices and "\\" in text else text
        self.position = 0
        self.line = 1
        self.ambiguous: list[int] = []
        """Lines on which a raw string seems to begin right behind a literal (see ``_suffix``)."""
        self._next_cut = 0
        self._literal_end = -1

    def _spliced(self, text: str) -> str:
        parts, end, removed = [], 0, 0
        for splice in _SPLICE.finditer(text):
            parts.append(text[end : splice.start()])
            self._cuts.append(splice.start() - removed)
            removed += splice.end() - splice.start()
            self._removed.append(removed)
            end = splice.end()
        parts.append(text[end:])
        return "".join(parts)

    def tokens(self) -> Iterator[Token]:
        """Yield tokens until the text ends. The caller may move ``position`` and ``line`` between two tokens."""
        while True:
            token = self.next()
            if token is None:
                return
            yield token

    def next(self) -> Token | None:
        """Return the next token, or None at the end."""
        text = self.text
        while True:
            start = self.position
            match = _MASTER.match(text, start)
            if match is None:
                return None
            kind = match.lastgroup
            if kind == "raw" and start == self._literal_end:
                return self._suffix(match)
            spelling, end = self._raw_string(start, match.end()) if kind == "raw" else (match.group(), match.end())
            self._pass_cuts(start)
            line = self.line
            if kind in ("newline", "comment", "raw"):
                self.line += text.count("\n", start, end)
            self.position = end
            if kind in ("string", "char", "raw"):
                self._literal_end = end
            if kind == "space" or kind == "comment":
                continue
            return self._token(kind, spelling, line)

    def _suffix(self, raw: re.Match[str]) -> Token:
        """Read ``R`` in ``"text"R"x("`` as what it is: a literal's suffix, behind which an ordinary string begins.

        GCC reads a raw string there when a macro is called ``R``: such a source says two things, and its line is noted.
        """
        self._pass_cuts(raw.start())
        self.ambiguous.append(self.line)
        self.position = raw.start() + raw.group().index('"')
        return Token("identifier", self.text[raw.start() : self.position], self.line)

    def header_name(self) -> str | None:
        """Return ``<name>`` or ``"name"`` when one stands here (comments before it are passed over), else None.

        Between ``#include`` and its line's end a header name is one token, in which ``//`` and backslashes mean nothing.
        """
        text = self.text
        while (match := _MASTER.match(text, self.position)) and match.lastgroup in ("space", "comment"):
            self.line += text.count("\n", match.start(), match.end())
            self.position = match.end()
        name = _HEADER_NAME.match(text, self.position)
        if name is None:
            return None
        self.position = name.end()
        return name.group()

    def _pass_cuts(self, offset: int) -> None:
        """Count the splices before ``offset`` as lines."""
        while self._next_cut < len(self._cuts) and self._cuts[self._next_cut] <= offset:
            self._next_cut += 1
            self.line += 1

    def _raw_string(self, start: int, body: int) -> tuple[str, int]:
        """Return the spelling of a raw string, and where it ends; its prefix starts at ``start``, what is quoted at ``body``.

        Inside it splices do not count as such: they are part of what is quoted.
        """
        opening = self.text.index('"', start)
        delimiter = ")" + self.text[opening + 1 : body - 1] + '"'
        begin = body + self._removed[bisect_right(self._cuts, body)]
        found = self._physical.find(delimiter, begin)
        if found < 0:
            return self.text[start:body] + self._physical[begin:], len(self.text)
        end = found + len(delimiter)
        return self.text[start:body] + self._physical[begin:end], self._logical(end)

    def _logical(self, physical: int) -> int:
        """Return the offset in the spliced text of an offset in the physical text."""
        index = bisect_left(range(len(self._cuts)), True, key=lambda n: self._cuts[n] + self._removed[n + 1] > physical)
        return physical - self._removed[index]

    @staticmethod
    def _token(kind: str | None, text: str, line: int) -> Token:
        if kind == "identifier":
            if "\\" in text:
                text = _NAMED_CHARACTER.sub(lambda name: _character(name.group()), text)
            return Token("identifier", text, line)
        if kind == "punctuator":
            return Token("punctuator", _DIGRAPHS.get(text, text), line)
        if kind == "raw":
            return Token("string", text, line)
        if kind == "newline":
            return Token("newline", text, line)
        assert kind in ("string", "char", "number")
        return Token(kind, text, line)  # type: ignore[arg-type]


def _character(name: str) -> str:
    code = int(name[2:], 16)
    return chr(code) if code <= 0x10FFFF else name


_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]+)|([0-7]{1,3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))")


def string_value(token: Token) -> str:
    """Return the characters that a string literal stands for: prefix and quotes off, escapes resolved."""
    opening = token.text.find('"')
    if token.text[:opening].endswith("R"):
        body = token.text[opening + 1 :]
        delimiter, _, rest = body.partition("(")
        closing = ")" + delimiter + '"'
        return rest[: -len(closing)] if rest.endswith(closing) else rest
    body = token.text[opening + 1 :]
    body = body.removesuffix('"')
    return _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    hexadecimal, octal, short, long, simple = match.groups()
    if simple is not None:
        return _SIMPLE_ESCAPES.get(simple, simple)
    code = int(octal, 8) if octal is not None else int(hexadecimal or short or long, 16)
    return chr(code) if code <= 0x10FFFF else ""
