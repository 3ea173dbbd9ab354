"""Rules over what the compiler made of a candidate: preprocessed passes, host code, object and library."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ptxbench.schema import Candidate, Language, Violation
from ptxbench.toolchain.policy import headers
from ptxbench.toolchain.policy.binary import Binary, read_binary
from ptxbench.toolchain.policy.content import (
    judge_calls,
    judge_host_asm,
    judge_tokens,
    mangled_parts,
    place_of_device_wide,
)
from ptxbench.toolchain.policy.directives import INCLUDES, Macros, RawFile, header_names, object_macros, read_raw
from ptxbench.toolchain.policy.injected import injected
from ptxbench.toolchain.policy.passes import Pass, Placed, file_in, read_pass
from ptxbench.toolchain.policy.rules import MOST_BREACHES, bounded, breach
from ptxbench.toolchain.policy.source_lines import SourceLines
from ptxbench.toolchain.policy.symbol_places import SymbolPlaces
from ptxbench.toolchain.policy.symbols import imported, needed, overridden


@dataclass(frozen=True)
class Evidence:
    """What a build left behind to judge by. A part is None, or its file absent, when the compiler did not come so far.

    Attributes:
        candidate: the candidate.
        folder: where its sources were written for the compiler.
        host_ii: the host pass, preprocessed (nvcc's ``X.cpp4.ii``; the only pass of a C++ candidate).
        device_ii: the device pass, preprocessed (``X.cpp1.ii``).
        host_cpp: the host code after device bodies were taken out (``X.cudafe1.cpp``).
        object: the object before linking, without anything of ours.
        library: the linked library.
    """

    candidate: Candidate
    folder: Path
    host_ii: Path | None = None
    device_ii: Path | None = None
    host_cpp: Path | None = None
    object: Path | None = None
    library: Path | None = None


@dataclass(frozen=True)
class Passes:
    """The compiler's text read: most of an inspection's work, and possible while the host compiler still optimises.

    Attributes:
        host: the host pass, preprocessed.
        device: the device pass, preprocessed.
        host_code: what the host compiler gets.
    """

    host: Pass | None
    device: Pass | None
    host_code: Pass | None


def read_passes(evidence: Evidence) -> Passes:
    """Read the preprocessed passes and the host code that a build has left so far."""
    locate = file_in(evidence.folder)
    host, device = _read(evidence.host_ii, locate), _read(evidence.device_ii, locate)
    cuda = evidence.candidate.language is Language.CUDA
    return Passes(host, device, _read(evidence.host_cpp, locate) if cuda else host)


def inspect(evidence: Evidence, passes: Passes | None = None) -> tuple[Violation, ...]:
    """Judge a candidate by what a build left behind, as far as it came. Python candidates leave nothing to judge.

    ``passes`` are those of this evidence, where they have been read already.
    """
    if evidence.candidate.language in (Language.PYTHON, Language.TRITON):
        return ()
    inspection = _Inspection(evidence, passes or read_passes(evidence))
    return bounded((*inspection.headers(), *inspection.contents(), *inspection.macros(), *inspection.binaries()))


class _Inspection:
    def __init__(self, evidence: Evidence, passes: Passes) -> None:
        self.evidence = evidence
        self.lines = SourceLines(evidence.candidate)
        self.host, self.device, self.host_code = passes.host, passes.device, passes.host_code

    @cached_property
    def raw(self) -> dict[str, RawFile]:
        return {source.path: read_raw(source.content) for source in self.evidence.candidate.sources}

    @cached_property
    def macros_defined(self) -> Macros:
        return object_macros(self.raw.values())

    @cached_property
    def object(self) -> Binary | None:
        path = self.evidence.object
        return read_binary(path) if path is not None and path.is_file() else None

    @cached_property
    def tokens(self) -> list[Placed]:
        """The candidate's tokens of both passes, the host's first."""
        return [placed for one in (self.host, self.device) if one is not None for placed in one.tokens]

    @cached_property
    def places(self) -> SymbolPlaces:
        return SymbolPlaces(self.tokens)

    def report(self, rule: str, placed: Placed) -> Violation:
        return breach(rule, placed.file, placed.token.line, self.lines.text(placed.file, placed.token.line))

    def headers(self) -> Iterator[Violation]:
        """Judge the headers that were entered; by their name in the candidate's own include where it has one."""
        expected = (self.host, self.device) if self.evidence.candidate.language is Language.CUDA else (self.host,)
        for one in expected:
            if one is None:
                continue
            for entered in one.entered:
                file, line = entered.place
                refusal = headers.opened(entered.path)
                if refusal is None and entered.direct and file is not None:
                    refusal = next((found for name in self._names(file, line) if (found := headers.spelled(name))), None)
                if refusal is not None:
                    yield breach(refusal.rule, file, line, self.lines.text(file, line) or entered.path, paper=refusal.paper)

    def _names(self, file: str, line: int | None) -> list[str]:
        raw = self.raw.get(file)
        if raw is None or line is None:
            return []
        here = [one for one in raw.directives if one.name in INCLUDES and one.line <= line <= one.last_line]
        return [name for one in here for name in header_names(one, self.macros_defined) or ()]

    def contents(self) -> Iterator[Violation]:
        """Judge the candidate's own text, in either pass, and assembly in its host code."""
        for one in (self.host, self.device):
            if one is not None:
                yield from judge_tokens(one.tokens, self.report)
                if self.object is None:
                    yield from judge_calls(one.tokens, self.report)
        if self.host_code is not None:
            yield from judge_host_asm(self.host_code.tokens, self.report)

    def macros(self) -> Iterator[Violation]:
        """Judge macros that reach into system headers; where lines are forged, which headers there are is not known."""
        if any(one.name in ("line", "") for file in self.raw.values() for one in file.directives):
            return
        locate = file_in(self.evidence.folder)
        entered = {one.path for each in (self.host, self.device) if each is not None for one in each.entered}
        system = sorted(Path(path) for path in entered if locate(path) is None)
        for rule, file, definition, header in injected(self.raw, self.evidence.candidate.entry_file, system):
            text = f"{self.lines.text(file, definition.line)}  (expanded in {header})"
            yield breach(rule, file, definition.line, text)

    def binaries(self) -> Iterator[Violation]:
        """Judge imports and definitions of the object, imports and libraries of the linked library."""
        library_path = self.evidence.library
        library = read_binary(library_path) if library_path is not None and library_path.is_file() else None
        parts = [part for part in (self.object, library) if part is not None]
        shown: Counter[str] = Counter()
        for name in dict.fromkeys(name for part in parts for name in part.undefined):
            rule = imported(name)
            if rule is not None and shown[rule] < MOST_BREACHES:
                shown[rule] += 1
                yield self._symbol(rule, name, "imports")
        if self.object is not None:
            if any(map(device_wide_kernel, self.object.functions)):
                placed = place_of_device_wide(self.tokens)
                if placed is not None:
                    yield self.report("device_wide_library", placed)
                else:
                    yield breach("device_wide_library", None, None, "kernels of CUB's or Thrust's device-wide algorithms")
            for section in self.object.sections:
                if not _KNOWN_SECTION.fullmatch(section):
                    yield breach("section_attribute", None, None, f"the object holds a section {section}")
        if library is not None:
            for name in library.exported:
                if overridden(name):
                    yield self._symbol("symbol_override", name, "defines")
            for needs in library.needed:
                if not needed(needs):
                    yield breach("needed_library", None, None, f"the library needs {needs}")
            for image in library.images:
                yield breach("runtime_compilation", None, None, f"the library carries a device image as data: {image}")

    def _symbol(self, rule: str, name: str, verb: str) -> Violation:
        placed = self.places.find(name)
        if placed is None:
            return breach(rule, None, None, f"the binary {verb} {name}")
        text = self.lines.text(placed.file, placed.token.line)
        return breach(rule, placed.file, placed.token.line, text if name in text else f"{text}  ({verb} {name})")


def device_wide_kernel(name: str) -> bool:
    """Return whether a mangled function name belongs to a device-wide algorithm of CUB or Thrust."""
    parts = mangled_parts(name)
    return any(
        kernel.match(part)
        for library, kernel in _DEVICE_WIDE.items()
        if library in parts
        for part in parts[parts.index(library) + 1 :]
    )


def _read(path: Path | None, locate: Callable[[str], str | None]) -> Pass | None:
    if path is None or not path.is_file():
        return None
    return read_pass(path.read_text(encoding="utf-8", errors="replace"), locate)


_DEVICE_WIDE = {"cub": re.compile(r"Device(?!Count)[A-Z]|\w*_kernel$"), "thrust": re.compile(r"_kernel_agent$")}
"""What in a mangled name, behind the library's namespace, tells its device-wide kernels and their host side."""
_KNOWN_SECTION = re.compile(
    r"\.(text|rodata|data|bss|tdata|tbss|init_array|fini_array|preinit_array|ctors|dtors|eh_frame|eh_frame_hdr|gcc_except_table|sframe|lrodata|ldata|lbss)(\..*)?"
    r"|\.(nv_fatbin|nvFatBinSegment|nvHRKE|nvHRKI|nvHRCE|nvHRCI|nvHRDE|nvHRDI|group)|__nv_module_id|__nv_managed_data__|\.note\..*|\.tm_clone_table|\.jcr|\.stapsdt\.base"
)
