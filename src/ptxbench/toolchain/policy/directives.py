"""A raw source file as a preprocessor first sees it: its directives and the tokens between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ptxbench.toolchain.policy.tokens import Lexer, Token, string_value

_CONDITIONALS = frozenset({"if", "ifdef", "ifndef"})
MOST_EXPANSIONS = 256
"""How many spellings of one computed include are followed before it counts as unreadable."""
Macros = dict[str, list[tuple[Token, ...]]]
"""Bodies of macros, by name: one for each definition."""
INCLUDES = frozenset({"include", "include_next", "import", "embed"})


@dataclass(frozen=True)
class Directive:
    """One preprocessing directive.

    Attributes:
        name: ``include``, ``define``, ...; empty for the null directive and for ``# 33 "file"``.
        line: line of its ``#``.
        last_line: line on which it ends (splices and comments can stretch it).
        header: spelling of the header name with its delimiters, for an include that has one.
        operands: the other tokens after the name.
        conditional: whether it stands in a conditional group (other than the file's include guard) that may not be taken.
    """

    name: str
    line: int
    last_line: int
    header: str | None
    operands: tuple[Token, ...]
    conditional: bool


@dataclass(frozen=True)
class RawFile:
    """What stands in one source file outside of groups that ``#if 0`` (literally) leaves out."""

    directives: tuple[Directive, ...]
    tokens: tuple[Token, ...]
    ambiguous: tuple[int, ...]
    """Lines that compilers read in more than one way."""


@dataclass
class _Group:
    """An open conditional: whether ``#if 0`` leaves its present group out, and whether it is the file's include guard."""

    left_out: bool
    guard: bool


@dataclass
class _Reader:
    lexer: Lexer
    directives: list[Directive] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)

    @property
    def left_out(self) -> bool:
        return any(group.left_out for group in self.groups)

    def read(self) -> None:
        at_start = True
        while (token := self.lexer.next()) is not None:
            if token.kind == "newline":
                at_start = True
            elif at_start and token.text in ("#", "??="):
                self._directive(token.line)
            else:
                at_start = False
                if not self.left_out:
                    self.tokens.append(token)

    def _directive(self, line: int) -> None:
        lexer = self.lexer
        name = lexer.next()
        header, operands = None, []
        if name is not None and name.kind == "identifier" and name.text in INCLUDES:
            header = lexer.header_name()
        token = name
        while token is not None and token.kind != "newline":
            token = lexer.next()
            if token is not None and token.kind != "newline":
                operands.append(token)
        last_line = token.line if token is not None else lexer.line
        if name is None or name.kind == "newline":
            return
        if name.kind != "identifier":
            operands.insert(0, name)
        text = name.text if name.kind == "identifier" else ""
        left_out, conditional = self.left_out, not all(group.guard for group in self.groups)
        self._conditional(text, operands)
        if not left_out:
            self.directives.append(Directive(text, line, last_line, header, tuple(operands), conditional))

    def _conditional(self, name: str, operands: list[Token]) -> None:
        if name in _CONDITIONALS:
            first = not self.tokens and all(one.name == "pragma" for one in self.directives)
            self.groups.append(_Group(name == "if" and [token.text for token in operands] == ["0"], name == "ifndef" and first))
        elif name in ("elif", "else", "elifdef", "elifndef") and self.groups:
            self.groups[-1] = _Group(False, False)
        elif name == "endif" and self.groups:
            self.groups.pop()


def read_raw(text: str) -> RawFile:
    """Read one source file as written."""
    reader = _Reader(Lexer(text.removeprefix("\ufeff"), splices=True))
    reader.read()
    return RawFile(tuple(reader.directives), tuple(reader.tokens), tuple(reader.lexer.ambiguous))


def header_names(include: Directive, macros: Macros) -> list[str] | None:
    """Return every header that an include may name (without delimiters), or None when its macros cannot be followed.

    A computed include is followed through object-like macros of the candidate; each of a macro's definitions counts.
    """
    if include.header is not None:
        return [include.header[1:-1]]
    found: list[str] = []
    pending: list[tuple[tuple[Token, ...], frozenset[str]]] = [(include.operands, frozenset())]
    while pending:
        tokens, expanded = pending.pop()
        index = next((n for n, token in enumerate(tokens) if token.text in macros), None)
        if index is not None:
            name = tokens[index].text
            bodies = macros[name]
            if name in expanded or len(pending) > MOST_EXPANSIONS or any(body and body[0].text == "(" for body in bodies):
                return None
            pending += [((*tokens[:index], *body, *tokens[index + 1 :]), expanded | {name}) for body in bodies]
        elif len(tokens) == 1 and tokens[0].kind == "string":
            found.append(string_value(tokens[0]))
        elif len(tokens) > 2 and tokens[0].text == "<" and tokens[-1].text == ">":
            found.append("".join(token.text for token in tokens[1:-1]))
        else:
            return None
    return found


def object_macros(files: Iterable[RawFile]) -> Macros:
    """Return the bodies of the macros that the files define, by name; a function-like one's begins with its parenthesis."""
    macros: Macros = {}
    for file in files:
        for directive in file.directives:
            if directive.name == "define" and directive.operands:
                macros.setdefault(directive.operands[0].text, []).append(directive.operands[1:])
    return macros
