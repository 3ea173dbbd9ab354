"""The table of turns that the benchmark's paper published with its repository: one CSV row per turn, read strictly.

Columns, in any order and each once: ``model, arch, definition, workload_uuid, run, trajectory, turn`` (from 0),
``reasoning_tokens`` (empty where unknown), ``outcome`` (one of ``LABELS``), ``speedup`` (0 when not correct), ``source_arch_tag``
(read from source text, empty without one) and ``target_instruction`` (1: correct, and the tag names the target).
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, Self

from pydantic import BeforeValidator, ValidationError, model_validator
from pydantic_core import ErrorDetails

from ptxbench.core.errors import UsageError
from ptxbench.schema import ImportedOutcome, Outcome, Record

LABELS: dict[str, Outcome | ImportedOutcome] = {
    "Correct": Outcome.CORRECT,
    "Numerical error": Outcome.WRONG_VALUE,
    "Compilation error": Outcome.COMPILE_ERROR,
    "Runtime error": Outcome.RUNTIME_ERROR,
    "Kernel Execution Timeout": Outcome.TIMEOUT,
    "Extraction error": Outcome.NO_CODE,
    "Other error": ImportedOutcome.OTHER_ERROR,
    "Sanitize Timeout": ImportedOutcome.SANITIZE_TIMEOUT,
    "Profiling Service Timeout": ImportedOutcome.PROFILING_SERVICE_TIMEOUT,
}
"""What each of the source's labels is called here."""

MOST_TURNS = 10_000
"""Of one trajectory: more is no table of this kind."""
MOST_PROBLEMS = 20
"""After so many the rest of a table is not read."""
LONGEST_NAME = 300


def _name(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    if len(text) > LONGEST_NAME or not text.isprintable():
        raise ValueError(f"{text[:40]!r} is no name: one line of at most {LONGEST_NAME} printable characters")
    return text


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise ValueError(f"{text[:40]!r} is not a whole number")
    return int(text)


def _index(text: str) -> int:
    if _whole(text) >= MOST_TURNS:
        raise ValueError(f"{text} is no turn: they count from 0 and stay below {MOST_TURNS}")
    return int(text)


def _count_or_unknown(text: str) -> int | None:
    # Spreadsheets and data frames write a column of whole numbers with gaps as 12.0.
    return _whole(text.removesuffix(".0")) if text else None


def _outcome(text: str) -> Outcome | ImportedOutcome:
    if text not in LABELS:
        raise ValueError(f"{text[:40]!r} is none of {', '.join(LABELS)}")
    return LABELS[text]


def _ratio(text: str) -> float:
    number = r"[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?"
    if not re.fullmatch(number, text) or not math.isfinite(float(text)):
        raise ValueError(f"{text[:40]!r} is not a number of at least 0")
    return float(text)


def _mark(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(f"{text[:40]!r} is neither 0 nor 1")
    return text == "1"


def _tag(text: str) -> str | None:
    return _name(text) if text else None


Name = Annotated[str, BeforeValidator(_name)]


class PublishedTurn(Record):
    """One row of the table, as the source means it."""

    model: Name
    arch: Literal["hopper", "blackwell"]
    definition: Name
    workload_uuid: Name
    run: Name
    trajectory: Name
    turn: Annotated[int, BeforeValidator(_index)]
    reasoning_tokens: Annotated[int | None, BeforeValidator(_count_or_unknown)]
    outcome: Annotated[Outcome | ImportedOutcome, BeforeValidator(_outcome)]
    speedup: Annotated[float, BeforeValidator(_ratio)]
    source_arch_tag: Annotated[str | None, BeforeValidator(_tag)]
    target_instruction: Annotated[bool, BeforeValidator(_mark)]

    @model_validator(mode="after")
    def _only_correct_turns_have_more(self) -> Self:
        if self.outcome is not Outcome.CORRECT and (self.speedup or self.target_instruction):
            what = "a speedup" if self.speedup else "target_instruction 1"
            raise ValueError(f"a turn that is not correct cannot have {what}")
        return self


COLUMNS = tuple(PublishedTurn.model_fields)


@dataclass
class PublishedTable:
    """A table that was read whole: its rows in their order, and the hash of its bytes."""

    name: str
    sha256: str
    turns: list[PublishedTurn]


@dataclass
class _Reading:
    """Where a table is being read, and what is wrong with it so far."""

    path: Path
    problems: list[tuple[int, str]] = field(default_factory=list)
    seen: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def turns(self, lines: Iterator[str]) -> Iterator[PublishedTurn]:
        reader = csv.reader(lines, strict=True)
        order: list[str] | None = None
        first = 1
        try:
            for cells in reader:
                line, first = first, reader.line_num + 1
                if not cells:
                    continue
                if order is None:
                    order = self._header(cells)
                    continue
                turn = self._turn(line, order, cells)
                if turn is not None:
                    yield turn
                if len(self.problems) >= MOST_PROBLEMS:
                    return
        except csv.Error as error:
            self.problems.append((first, f"is no CSV: {error}"))
        if order is None:
            raise UsageError(f"{self.path} is empty", next_step=_STEP)

    def _header(self, cells: Sequence[str]) -> list[str]:
        lacking = [name for name in COLUMNS if name not in cells]
        strange = [name[:40] for name in cells if name not in COLUMNS]
        twice = sorted({name for name in cells if name in COLUMNS and cells.count(name) > 1})
        wrong = [
            f"{what} {', '.join(map(repr, names))}"
            for what, names in (("lacks", lacking), ("has", strange), ("repeats", twice))
            if names
        ]
        if wrong:
            raise UsageError(f"{self.path}:1: the header {' and '.join(wrong)}", next_step=_STEP)
        return list(cells)

    def _turn(self, line: int, order: list[str], cells: list[str]) -> PublishedTurn | None:
        if len(cells) != len(order):
            self.problems.append((line, f"has {len(cells)} fields, not {len(order)}"))
            return None
        try:
            turn = PublishedTurn.model_validate(dict(zip(order, cells, strict=True)))
        except ValidationError as error:
            self.problems += [(line, _told(one)) for one in error.errors(include_url=False)]
            return None
        key = (turn.run, turn.trajectory, turn.turn)
        if key in self.seen:
            told = (
                f"turn {turn.turn} of trajectory {turn.trajectory} of run {turn.run} occurs again (first in line {self.seen[key]})"
            )
            self.problems.append((line, told))
            return None
        self.seen[key] = line
        return turn


def read_published(path: Path) -> PublishedTable:
    """Return a table of published turns, read row by row.

    Raises ``UsageError`` for a file that cannot be read, for other columns, and for rows that are wrong, each with its line.
    """
    digest = hashlib.sha256()
    reading = _Reading(path)
    try:
        with path.open("rb") as stream:
            turns = list(reading.turns(_lines(stream, digest.update)))
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text", next_step=_STEP) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", next_step=_STEP) from None
    if reading.problems:
        told = [f"{path.name}:{line}: {text}" for line, text in reading.problems]
        more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
        raise UsageError(f"{told[0]}{more}", next_step=_STEP, problems=told)
    if not turns:
        raise UsageError(f"{path} holds no turn", next_step=_STEP)
    return PublishedTable(path.name, f"sha256:{digest.hexdigest()}", turns)


_STEP = "give a table of turns in the published form; docs/published-results.md describes it"


def _lines(stream: BinaryIO, count: Callable[[bytes], None]) -> Iterator[str]:
    """Yield a file's lines as text, every byte counted once; a byte order mark at its start is none of the text."""
    start = True
    for line in stream:
        count(line)
        yield (line.removeprefix(codecs.BOM_UTF8) if start else line).decode("utf-8")
        start = False


def _told(error: ErrorDetails) -> str:
    column = ".".join(map(str, error["loc"]))
    text = error["msg"].removeprefix("Value error, ")
    return f"{column}: {text}" if column else text
