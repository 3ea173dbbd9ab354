"""Whether a candidate may be compiled with the slim TVM-FFI headers, and which standard headers it takes for granted.

A source that compiles with either header must behave the same. So whatever could tell the two apart, or reach into them, keeps a
candidate on the full headers: a condition on something that headers decide, a macro with a name that headers use, text in TVM-FFI's
namespaces, a using-directive that mixes names of a header with the candidate's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from ptxbench.schema import Candidate
from ptxbench.toolchain.headers import INCLUDABLE, header_identifiers, slim_identifiers, slim_stands_in_for
from ptxbench.toolchain.policy.directives import INCLUDES, RawFile, header_names, object_macros, read_raw
from ptxbench.toolchain.policy.tokens import Token
from ptxbench.toolchain.tools import HostToolchain

_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})
_KNOWN_CONDITION = re.compile(
    r"__CUDA_ARCH\w*|__CUDACC\w*|__NVCC__|__cplusplus|__GNUC__|__clang__|__linux__|_MSC_VER|_WIN32|__x86_64__|NDEBUG|CUDA(RT)?_VERSION"
)
"""Names in conditions that mean the same with both headers."""
_TELLING = frozenset({"__COUNTER__", "__INCLUDE_LEVEL__", "__has_include", "__has_include_next", "_Pragma", "TypeTraits"})
"""Names whose value, or whose very use, depends on what the headers hold."""
_USABLE_NAMESPACES = frozenset({"cooperative_groups", "nvcuda", "cuda", "cg"})


def fit_macros(candidate: Candidate, tools: HostToolchain) -> tuple[str, ...] | None:
    """Return the macros that tell the slim headers what to include besides, or None for a candidate that they do not fit."""
    raw = {source.path: read_raw(source.content) for source in candidate.sources}
    if not _includes_fit(raw) or any(file.ambiguous for file in raw.values()) or not slim_stands_in_for(tools):
        return None
    if not all(_directives_fit(raw, header_identifiers(tools.tvm_include))):
        return None
    texts: list[Sequence[Token]] = [file.tokens for file in raw.values()]
    texts += [one.operands for file in raw.values() for one in file.directives if one.name == "define"]
    opened, known = _namespaces(raw), slim_identifiers(tools.tvm_include)
    return _standard_headers(texts) if all(_tokens_fit(tokens, opened, known) for tokens in texts) else None


def _includes_fit(raw: Mapping[str, RawFile]) -> bool:
    """Return whether the candidate includes TVM-FFI, and nothing of it that the slim headers do not know."""
    macros = object_macros(raw.values())
    found = False
    for directive in (one for file in raw.values() for one in file.directives if one.name in INCLUDES):
        names = header_names(directive, macros)
        if directive.name != "include" or names is None:
            return False
        for name in names:
            if re.search(r"\b(?:tvm|dlpack)\b", name):
                if name not in INCLUDABLE:
                    return False
                found = True
    return found


def _directives_fit(raw: Mapping[str, RawFile], words: frozenset[str]) -> Iterator[bool]:
    own = frozenset(object_macros(raw.values()))
    last_include = {
        path: max((one.line for one in file.directives if one.name in INCLUDES), default=0) for path, file in raw.items()
    }
    for path, file in raw.items():
        for one in file.directives:
            if one.name in ("define", "undef") and one.operands:
                # The policy reads early macros against the text of the headers behind them, which differ here.
                early = one.line < last_include[path] or len(raw) > 1
                harmless = all(token.kind == "number" for token in one.operands[1:])
                yield one.operands[0].text not in words and (harmless or not early)
            elif one.name in _CONDITIONS:
                yield all(_condition_fits(token.text, own, words) for token in one.operands if token.kind == "identifier")
            elif one.name == "pragma":
                yield not any(token.text in ("push_macro", "pop_macro", "redefine_extname", "weak") for token in one.operands)
            elif one.name in ("line", ""):
                yield False


def _condition_fits(name: str, own: frozenset[str], words: frozenset[str]) -> bool:
    if name == "defined" or _KNOWN_CONDITION.fullmatch(name):
        return True
    return not name.startswith("_") and name not in words and (name in own or not name.startswith(("TVM", "DL", "PTXBENCH")))


def _namespaces(raw: Mapping[str, RawFile]) -> frozenset[str]:
    """Return the namespaces that the candidate opens itself, and its names for CUDA's."""
    found = set()
    for tokens in (file.tokens for file in raw.values()):
        for index, token in enumerate(tokens[:-3]):
            if token.text == "namespace":
                name, after, behind = (one.text for one in tokens[index + 1 : index + 4])
                if after == "{" or (after == "=" and behind in _USABLE_NAMESPACES):
                    found.add(name)
    return frozenset(found)


def _tokens_fit(tokens: Sequence[Token], opened: frozenset[str], known: frozenset[str]) -> bool:
    for index, token in enumerate(tokens):
        if token.kind != "identifier":
            continue
        name, after = token.text, _text(tokens, index + 1)
        if name in _TELLING or name.startswith(("PTXBENCH_", "TVM_FFI_SAFE_CALL", "TVM_FFI_DLL_EXPORT_INCLUDE", "__tvm_ffi")):
            return False
        if name == "namespace":
            if after == "tvm" or (after == "std" and _text(tokens, index + 2) == "{"):
                return False
            if _text(tokens, index - 1) == "using" and after not in _USABLE_NAMESPACES and after not in opened:
                return False
        elif name == "std" and after != "::":
            return False  # An alias of the namespace: what it is used for is not seen.
        elif name == "operator" and after == "<" and _text(tokens, index + 2) == "<":
            return False  # A stream operator; the slim headers write messages without streams.
        else:
            qualifier = _text(tokens, index - 2) if _text(tokens, index - 1) == "::" else None
            inside = name in ("detail", "details") and qualifier is not None and qualifier not in opened
            unknown = name not in known and (qualifier == "ffi" or name.startswith("TVM_FFI_"))
            if inside or unknown:
                return False
    return True


def _standard_headers(texts: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """Return a macro for each standard header of which the candidate says a name: the full headers include them all."""
    named = {
        _text(tokens, index + 2)
        for tokens in texts
        for index, token in enumerate(tokens)
        if token.text == "std" and _text(tokens, index + 1) == "::"
    }
    return tuple(f"PTXBENCH_STD_{header.upper()}" for header, names in _standard_names().items() if named & names)


@cache
def _standard_names() -> dict[str, frozenset[str]]:
    """Read which standard header declares which names."""
    text = (files("ptxbench.toolchain") / "slim" / "standard.txt").read_text(encoding="utf-8")
    lines = (line.partition(":") for line in text.splitlines() if line and not line.startswith("#"))
    return {header: frozenset(names.split()) for header, _, names in lines}


def _text(tokens: Sequence[Token], index: int) -> str | None:
    return tokens[index].text if 0 <= index < len(tokens) else None
