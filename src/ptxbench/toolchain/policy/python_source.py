"""Rules over Python candidates, from their syntax tree.

Text cannot hold Python: any object leads to the interpreter by some chain of attributes. These rules keep honest candidates to
NumPy and name the plain ways out; the sandbox is what protects.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

from ptxbench.schema import Candidate, Language, Violation
from ptxbench.toolchain.policy.rules import breach, table
from ptxbench.toolchain.policy.source_lines import SourceLines


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(table("python")[kind])


def judge_python(candidate: Candidate) -> Iterator[Violation]:
    """Yield what a Python candidate's sources break. A source that does not parse breaks nothing: it cannot run either."""
    lines = SourceLines(candidate)
    own = {PurePosixPath(source.path).parts[0].removesuffix(".py") for source in candidate.sources}
    allowed = _names("modules") | (own - sys.stdlib_module_names - _names("foreign_modules"))
    if candidate.language is Language.TRITON:
        allowed |= _names("triton_modules")
    for source in candidate.sources:
        try:
            tree = ast.parse(source.content)
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError):
            yield breach("unreadable_source", source.path, None, "nested too deeply to be read")
            continue
        judge = _Judge(allowed)
        judge.look(tree)
        for rule, line in judge.found:
            yield breach(rule, source.path, line, lines.text(source.path, line))


class _Judge:
    def __init__(self, modules: frozenset[str]) -> None:
        self.allowed = modules
        self.found: list[tuple[str, int]] = []
        self.imported: set[str] = set()
        """Names that an import binds to a module."""
        self.harmless: set[int] = set()
        """Attributes that stand before a harmless module's name, by identity."""
        self.starred = False
        """Whether some ``from module import *`` binds names that are not written down here."""

    def look(self, tree: ast.AST) -> None:
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
        for node in nodes:
            if isinstance(node, ast.Attribute):
                self._pardon(node)
        for node in nodes:
            if isinstance(node, ast.Attribute):
                self._attribute(node.attr, node, node.value)
            elif isinstance(node, ast.Name) and node.id in _names("builtins"):
                self.found.append(("python_builtin", node.lineno))
            elif isinstance(node, ast.Name) and self.starred:
                self._attribute(node.id, node, None, below_module=True)
            elif isinstance(node, ast.MatchClass):
                for name in node.kwd_attrs:
                    self._attribute(name, node, None)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            parts = alias.name.split(".")
            self.imported.add(alias.asname or parts[0])
            if parts[0] not in self.allowed or self._path_leads_out(parts):
                self.found.append(("python_import", node.lineno))

    def _import_from(self, node: ast.ImportFrom) -> None:
        parts = (node.module or "").split(".")
        if node.level == 0 and parts[0] not in self.allowed:
            self.found.append(("python_import", node.lineno))
            return
        for alias in node.names:
            self.starred |= alias.name == "*"
            if self._path_leads_out([*parts, alias.name]):
                self.found.append(("python_import", node.lineno))

    def _attribute(
        self, name: str, node: ast.expr | ast.pattern, value: ast.expr | None, *, below_module: bool | None = None
    ) -> None:
        below = self._is_module(value) if below_module is None else below_module
        if self._leads_out(name, below_module=below) and id(node) not in self.harmless:
            self.found.append(("python_attribute", node.lineno))

    def _is_module(self, value: ast.expr | None) -> bool:
        while isinstance(value, ast.Attribute):
            value = value.value
        return isinstance(value, ast.Name) and value.id in self.imported

    def _pardon(self, node: ast.Attribute) -> None:
        """Remember the part below NumPy of ``np.lib.stride_tricks``, whatever name ``numpy`` was given."""
        below = node.value
        if isinstance(below, ast.Attribute) and self._is_module(below):
            path = f"{below.attr}.{node.attr}"
            self.harmless |= {id(below) for name in _names("harmless_modules") if name.partition(".")[2] == path}

    def _path_leads_out(self, parts: list[str]) -> bool:
        path = ".".join(parts)
        for name in _names("harmless_modules"):
            if f"{path}.".startswith(f"{name}."):
                parts = [parts[0], *parts[name.count(".") + 1 :]]
        return any(self._leads_out(part, below_module=True) for part in parts[1:])

    @staticmethod
    def _leads_out(name: str, *, below_module: bool) -> bool:
        if name in _names("attributes"):
            return True
        if name.startswith("__") and name.endswith("__"):
            return name not in _names("dunders")
        return below_module and (name in _names("module_attributes") or (name.startswith("_") and not name.startswith("__")))
