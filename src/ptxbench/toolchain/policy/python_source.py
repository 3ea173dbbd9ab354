"""Rules over Python candidates, from their syntax tree.

Text cannot hold Python: any object leads to the interpreter by some chain of attributes. These rules keep honest candidates to
NumPy and name the plain ways out; the sandbox is what protects.
"""

from __future__ import annotations

import ast
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
    allowed = _names("modules").union(PurePosixPath(source.path).parts[0].removesuffix(".py") for source in candidate.sources)
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

    def look(self, tree: ast.AST) -> None:
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
        for node in nodes:
            if isinstance(node, ast.Attribute):
                self._attribute(node.attr, node, node.value)
            elif isinstance(node, ast.Name) and node.id in _names("builtins"):
                self.found.append(("python_builtin", node.lineno))
            elif isinstance(node, ast.MatchClass):
                for name in node.kwd_attrs:
                    self._attribute(name, node, None)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            parts = alias.name.split(".")
            self.imported.add(alias.asname or parts[0])
            if parts[0] not in self.allowed or any(self._leads_out(part, below_module=True) for part in parts[1:]):
                self.found.append(("python_import", node.lineno))

    def _import_from(self, node: ast.ImportFrom) -> None:
        parts = (node.module or "").split(".")
        outside = node.level == 0 and parts[0] not in self.allowed
        if outside or any(self._leads_out(part, below_module=True) for part in parts[1:]):
            self.found.append(("python_import", node.lineno))
            return
        for alias in node.names:
            if self._leads_out(alias.name, below_module=True):
                self.found.append(("python_import", node.lineno))

    def _attribute(self, name: str, node: ast.expr | ast.pattern, value: ast.expr | None) -> None:
        if self._leads_out(name, below_module=self._is_module(value)):
            self.found.append(("python_attribute", node.lineno))

    def _is_module(self, value: ast.expr | None) -> bool:
        while isinstance(value, ast.Attribute):
            value = value.value
        return isinstance(value, ast.Name) and value.id in self.imported

    @staticmethod
    def _leads_out(name: str, *, below_module: bool) -> bool:
        if name in _names("attributes"):
            return True
        if name.startswith("__") and name.endswith("__"):
            return name not in _names("dunders")
        return below_module and (name in _names("module_attributes") or (name.startswith("_") and not name.startswith("__")))
