"""JSON text of other people: where in it a problem lies."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ptxbench.core.errors import SuiteError
from ptxbench.schema import TraceRecord


@dataclass(frozen=True)
class Problem:
    """Something in a suite's file that cannot be used: where, what, and what to do about it."""

    path: Path
    line: int | None
    message: str
    next_step: str

    @property
    def where(self) -> str:
        """``file:line``, or the file alone."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)

    def error(self, others: int = 0) -> SuiteError:
        """Return the problem as an error; ``others`` counts further ones that are not told here."""
        more = f" ({others} more: `ptxbench tasks validate` lists all)" if others else ""
        return SuiteError(f"{self.where}: {self.message}{more}", next_step=self.next_step, file=str(self.path), line=self.line)


class UnreadableError(Exception):
    """Internal: carries a ``Problem`` from where it is found to where problems are collected."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read_text(path: Path) -> str:
    """Return a file's text. Raises ``UnreadableError`` when it cannot be read or is not UTF-8."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # Reading a device or a pipe might never end.
            raise UnreadableError(Problem(path, None, "is not a regular file", "remove it from the suite's folder"))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise UnreadableError(Problem(path, None, message, "check that the file exists and may be read")) from error
    except UnicodeDecodeError as error:
        raise UnreadableError(Problem(path, None, f"is not UTF-8 (byte {error.start})", "save the file as UTF-8")) from error


def parse_object(path: Path, text: str, first_line: int = 1) -> dict[str, Any]:
    """Return the JSON object in ``text``, which begins on ``first_line`` of the file. Raises ``UnreadableError``."""
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        message = f"is not JSON: {error.msg} (column {error.colno})"
        raise UnreadableError(Problem(path, line, message, "correct the file's syntax")) from error
    except RecursionError as error:
        message = "is not a record: brackets are nested too deeply"
        raise UnreadableError(Problem(path, first_line, message, "correct the file")) from error
    except ValueError as error:  # a number with more digits than Python reads
        raise UnreadableError(Problem(path, first_line, f"is not a record: {error}", "correct the file")) from error
    if not isinstance(value, dict):
        problem = Problem(path, first_line, f"holds a {type(value).__name__}, not a JSON object", "write one object per record")
        raise UnreadableError(problem)
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs. Raises ``ValueError`` for a key that occurs twice, and for text that UTF-8 cannot hold."""
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise ValueError(f"the key {key!r} occurs twice in one object")
        for text in (key, item):
            if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
                raise ValueError(f"a text under {key!r} holds half of a character (a lone surrogate)")
        value[key] = item
    return value


def describe(path: Path, text: str, first_line: int, error: ValidationError) -> Problem:
    """Return a validation error as a problem with the line of the first key that it concerns."""
    first = error.errors(include_url=False)[0]
    location = [str(part) for part in first["loc"]]
    message = first["msg"].removeprefix("Value error, ")
    named = f"{'.'.join(location)}: {message}" if location else message
    others = error.error_count() - 1
    more = f" (and {others} more in this record)" if others else ""
    line = first_line + _line_of(text, location)
    return Problem(path, line, f"{named}{more}", "correct the record (docs/adding-a-task.md shows the format)")


def _line_of(text: str, location: Sequence[str]) -> int:
    """Return the line, from 0, on which the innermost key of ``location`` that occurs in the text stands."""
    position = 0
    for key in location:
        found = text.find(json.dumps(key) + ":", position)
        if found >= 0:
            position = found
    return text.count("\n", 0, position)


def unknown_keys(record: BaseModel, prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of all keys below ``record`` that are not part of the format."""
    if isinstance(record, TraceRecord):
        yield from (f"{prefix}{key}" for key in record.unknown_keys)
    for name in type(record).model_fields:
        value = getattr(record, name)
        if isinstance(value, BaseModel):
            yield from unknown_keys(value, f"{prefix}{name}.")
        elif isinstance(value, dict):
            for key, item in value.items():
                if isinstance(item, BaseModel):
                    yield from unknown_keys(item, f"{prefix}{name}.{key}.")
