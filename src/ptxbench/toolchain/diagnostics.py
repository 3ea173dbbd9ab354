"""What the compiler's stages said, as records: place in the candidate, severity, code, text, stage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ptxbench.schema import Candidate, Diagnostic
from ptxbench.toolchain.demangle import demangle_text
from ptxbench.toolchain.paths import RecordPaths
from ptxbench.toolchain.ptx import PtxLines

Stage = Literal["preprocess", "front", "host", "ptxas", "link", "limit"]
Severity = Literal["error", "warning", "note"]

MAX_RECORDS = 100
MAX_TEXT = 1200
MAX_LINE = 8000
MAX_CONTINUATION = 12
"""Lines that one message of cudafe++ may go on for (template instantiations can go on for hundreds)."""

DRIVER_SYMBOL = re.compile(r"cu[A-Z]\w*")
"""Functions of the CUDA driver: undefined in a candidate, found in libcuda when it is loaded."""


@dataclass
class _Message:
    stage: Stage
    severity: Severity
    text: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    code: str | None = None
    count: int = 1
    ptx_line: int | None = None
    where: str | None = None
    continued: list[str] = field(default_factory=list)


_LOCATED = re.compile(
    r"^(?P<file>[^\s:(][^:(]*):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<severity>fatal error|error|warning|note|Error|Warning|sorry, unimplemented|internal compiler error): (?P<text>.*)"
)
_FRONT = re.compile(
    r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?P<severity>catastrophic error|internal error|error|warning|note|remark)"
    r"(?: #(?P<code>\d+)(?:-[A-Z])?)?: (?P<text>.*)"
)
_PTXAS = re.compile(r"^ptxas (?:(?P<file>[^,\s]+), line (?P<line>\d+); )?(?P<severity>error|fatal|warning|info)\s*: (?P<text>.*)")
_ADVICE = re.compile(r"^\((?P<code>C\d+)\)\s*(?P<text>.*)")
_AROUND = re.compile(r"around line (\d+)")
_TOOL = re.compile(
    r"^(?P<tool>nvcc|cicc|fatbinary|nvlink|cudafe\+\+|cc1plus|as|g\+\+|c\+\+|clang\+\+|collect2|[\w./+-]*[gc]\+\+(?:-\d+)?)"
    r"\s*:?\s*(?P<severity>fatal error|internal compiler error|fatal|error|warning)\s*: (?P<text>.*)"
)
_LD = re.compile(r"^(?:\S*/)?ld(?:\.\w+)?: ")
_IN_FUNCTION = re.compile(r"in function [`'](?P<name>.*)':$")
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<name>.*)'")
_MULTIPLE = re.compile(r"multiple definition of [`'](?P<name>.*?)'(?:;|$)")
_OPTION = re.compile(r" \[(-W[\w=+-]+|-f[\w-]+)\]$")
_STAGES: tuple[tuple[str, Stage], ...] = (
    ("cudafe++", "front"), ("cicc", "front"), ("ptxas", "ptxas"), ("fatbinary", "link"), (" -E ", "preprocess"), (" -c ", "host"),
)  # fmt: skip
_NOISE = (
    "compilation terminated.", "ptxas fatal   : Ptx assembly aborted due to errors", "collect2: error: ld returned 1 exit status",
    "Remark: The warnings can be suppressed", "Error limit reached.", "Compilation terminated.", "Compilation aborted",
)  # fmt: skip
_SEVERITIES: dict[str, Severity] = {"warning": "warning", "Warning": "warning", "note": "note", "remark": "note"}


@dataclass(frozen=True)
class Diagnostics:
    """The records of one compilation. ``warnings`` are ptxas's (performance), ``records`` all others."""

    records: tuple[Diagnostic, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def has_error(self) -> bool:
        """Whether any record is an error."""
        return any(record.severity == "error" for record in self.records)

    @property
    def explained(self) -> bool:
        """Whether an error is about the candidate, not about a tool that gave up."""
        return any(record.severity == "error" and (record.file or record.stage in ("ptxas", "link")) for record in self.records)


def diagnose(
    output: str,
    candidate: Candidate,
    *,
    first_stage: Stage,
    paths: RecordPaths,
    ptx: PtxLines | None = None,
) -> Diagnostics:
    """Read what a compiler run printed.

    ``output`` may hold nvcc's ``#$`` lines (``nvcc -v``), which say whose messages follow; before the first, they are of
    ``first_stage``. ``paths`` names the files. ``ptx`` is the generated PTX, in
    which ptxas's messages are placed.
    """
    clipped = [line[:MAX_LINE] for line in output.splitlines()]
    lines = {source.path: source.content.splitlines() for source in candidate.sources}
    messages = list(_Reader(first_stage, lines, paths).read(clipped))
    merged = _merge(_located(message, ptx, paths) for message in messages)
    warnings = [message for message in merged if message.stage == "ptxas" and message.severity == "warning"]
    others = [message for message in merged if message not in warnings]
    return Diagnostics(records=_bounded(others, paths), warnings=_bounded(warnings, paths))


class _Reader:
    """Turns lines into messages; knows whose lines they are and which message a line continues."""

    def __init__(self, stage: Stage, sources: dict[str, list[str]], paths: RecordPaths) -> None:
        self.stage = stage
        self.sources = sources
        self.paths = paths
        self.function: str | None = None
        self.open: _Message | None = None

    def read(self, lines: Iterable[str]) -> Iterator[_Message]:
        for line in lines:
            if line.startswith("#$ "):
                self._close()
                self.stage = _stage_of(line)
            elif line.strip() and not line.startswith(_NOISE):
                message = self._message(line)
                if message is not None:
                    yield message
            else:
                self._close()

    def _close(self) -> None:
        self.open = None

    def _message(self, line: str) -> _Message | None:
        if match := _FRONT.match(line):
            self.open = _Message(
                "front" if self.stage == "preprocess" else self.stage, _SEVERITIES.get(match["severity"], "error"), match["text"],
                file=self.paths.relative(match["file"]), line=int(match["line"]), code=match["code"],
            )  # fmt: skip
            return self.open
        if match := _LOCATED.match(line):
            self._close()
            text, code = match["text"], None
            if option := _OPTION.search(text):
                text, code = text[: option.start()], option[1]
            column = int(match["column"]) if match["column"] else None
            file = self.paths.relative(match["file"])
            return _Message(self.stage, _SEVERITIES.get(match["severity"], "error"), text, file, int(match["line"]), column, code)
        if match := _PTXAS.match(line):
            self._close()
            return self._ptxas(match)
        if self.open is not None and line.startswith("  "):
            self._continue(self.open, line)
            return None
        if _LD.match(line) or "(.text" in line or "collect2" in line:
            return self._linker(line)
        if match := _TOOL.match(line):
            severity: Severity = "warning" if match["severity"] == "warning" else "error"
            return _Message(self.stage, severity, f"{match['tool'].rpartition('/')[2]}: {match['text']}")
        return None

    def _ptxas(self, match: re.Match[str]) -> _Message | None:
        text = match["text"]
        advice = _ADVICE.match(text)
        if match["severity"] == "info" and advice is None:
            return None
        severity: Severity = "warning" if match["severity"] in ("info", "warning") else "error"
        code = None
        if advice is not None:
            text, code = advice["text"], advice["code"]
        number = match["line"] or ((around := _AROUND.search(text)) and around[1])
        return _Message("ptxas", severity, text, code=code, ptx_line=int(number) if number else None)

    def _continue(self, message: _Message, line: str) -> None:
        """Take a line below a message of cudafe++: the message's own next line, a source line, or the mark under it."""
        if line.strip() == "^":
            if message.continued:
                shown = message.continued.pop()
                source = self.sources.get(message.file or "", [])
                # Shown after preprocessing: the mark is a column of the source only where both agree.
                if message.line and message.line <= len(source) and shown == "  " + source[message.line - 1].rstrip():
                    message.column = line.index("^") - 1
        elif len(message.continued) < MAX_CONTINUATION:
            message.continued.append(line.rstrip())

    def _linker(self, line: str) -> _Message | None:
        if match := _IN_FUNCTION.search(line):
            self.function = match["name"]
            return None
        if match := _UNDEFINED.search(line):
            if DRIVER_SYMBOL.fullmatch(match["name"]):
                return None
            return _Message("link", "error", f"undefined reference to `{match['name']}'", where=self.function)
        if match := _MULTIPLE.search(line):
            return _Message("link", "error", f"multiple definition of `{match['name']}'", where=self.function)
        if match := _LD.match(line):
            text = line[match.end() :]
            return _Message("link", "warning" if "warning:" in text else "error", text)
        return None


def _stage_of(line: str) -> Stage:
    """Return whose messages follow one of nvcc's ``#$`` lines."""
    command = line[3:]
    if re.match(r"\w+=", command):
        return "preprocess"
    return next((stage for mark, stage in _STAGES if mark in command), "link")


def _located(message: _Message, ptx: PtxLines | None, paths: RecordPaths) -> _Message:
    """Place a message of ptxas in the candidate, and spell out the names in it."""
    text = "\n".join([message.text, *(line.strip() for line in message.continued)])
    if message.stage == "ptxas":
        text = demangle_text(text)
        if ptx is not None and message.ptx_line is not None:
            quoted, place = ptx.quote(message.ptx_line), ptx.place(message.ptx_line)
            text = f"{text} in `{quoted}`" if quoted else text
            if place is not None:
                return replace(message, text=text, file=paths.relative(place[0]), line=place[1], column=place[2], continued=[])
    return replace(message, text=text, continued=[])


def _merge(messages: Iterable[_Message]) -> list[_Message]:
    """Join equal messages. The device and the host pass say many things twice, so a count is of one stage."""
    found: dict[tuple[object, ...], _Message] = {}
    for message in messages:
        key = (message.severity, message.file, message.line, message.text)
        first = found.setdefault(key, message)
        if first is not message and first.stage == message.stage and message.stage in ("link", "ptxas"):
            first.count += 1
    return list(found.values())


def _bounded(messages: list[_Message], paths: RecordPaths) -> tuple[Diagnostic, ...]:
    """Turn messages into records, errors first to be kept when there are too many."""
    kept = messages
    if len(messages) > MAX_RECORDS:
        rank = {"error": 0, "warning": 1, "note": 2}
        chosen = sorted(range(len(messages)), key=lambda index: (rank[messages[index].severity], index))[: MAX_RECORDS - 1]
        kept = [messages[index] for index in sorted(chosen)]
        kept.append(_Message(messages[-1].stage, "note", f"{len(messages) - len(kept)} more messages left out"))
    records = []
    for message in kept:
        text = message.text if len(message.text) <= MAX_TEXT else message.text[: MAX_TEXT - 1] + "…"
        if message.where is not None:
            text += f" in function {message.where}"
        if message.count > 1:
            text += f" ({message.count} times)"
        records.append(
            Diagnostic(
                severity=message.severity, file=message.file, line=message.line, column=message.column, code=message.code,
                text=paths.scrub(text), stage=message.stage,
            )
        )  # fmt: skip
    return tuple(records)
