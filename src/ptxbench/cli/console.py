"""What the commands share: the global options, printing for people and for machines."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import traceback
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel

from ptxbench.core.canonical import spelled
from ptxbench.core.errors import PtxbenchError, StorageError

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of SIGINT, as shells count it."""


@dataclass
class Globals:
    """Options that stand before the command."""

    suite: list[Path] = field(default_factory=list)
    json: bool = False
    verbose: int = 0
    color: str = "auto"
    when_interrupted: str = "interrupted"
    """What Ctrl-C is answered with; a command that can go on later says how."""


GLOBALS = Globals()


def prepare_streams() -> None:
    """Let no character that this terminal cannot show end a command: it becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def wants_json(local: bool) -> bool:
    """Return whether to print JSON, given the command's own ``--json``; remembered for errors."""
    GLOBALS.json = GLOBALS.json or local
    return GLOBALS.json


def print_json(value: Any) -> None:
    """Print a record, or plain JSON value, to stdout."""
    write_out(json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return spelled(value.model_dump(mode="json"))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def write_out(text: str, *, encoding: str | None = None) -> None:
    """Write to stdout, in the terminal's encoding or in the one that a format for machines asks for.

    A reader that went away (head, less) changes neither the verdict nor the exit code. Raises ``StorageError`` when the text
    cannot be kept where stdout leads (a full disk).
    """
    if encoding and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding=encoding)
    try:
        _write(sys.stdout, text)
    except OSError as error:
        _hang_up(sys.stdout)
        raise StorageError(f"stdout cannot be written: {error.strerror}", next_step="send it somewhere else") from error


def say(text: str = "") -> None:
    """Print a line of a command's answer to stdout."""
    write_out(text + "\n")


def progress(text: str) -> None:
    """Print a line of progress to stderr."""
    _write(sys.stderr, text + "\n")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _hang_up(stream)


def _hang_up(stream: TextIO) -> None:
    """Send what this stream still holds, and what is yet to come, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def show_error(error: PtxbenchError) -> None:
    """Print an error: one line and its next step on stderr, and the JSON form on stdout when JSON was asked for."""
    if GLOBALS.json:
        print_json(error.as_json())
    if GLOBALS.verbose:
        progress("".join(traceback.format_exception(error)).rstrip())
    progress(f"error: {' '.join(error.message.splitlines())}")
    if error.next_step:
        progress(f"  next: {error.next_step}")


def show_fault() -> None:
    """Print the exception that is being handled as what it is: a fault of ptxbench."""
    progress(traceback.format_exc().rstrip())
    progress("error: a fault in ptxbench, see above; nothing is said about the candidate")
    progress("  next: report it with these lines and the command")


def own_name() -> str:
    """Return how a shell can call this command again from here: by name when it is on PATH, else as it was called."""
    return "ptxbench" if shutil.which("ptxbench") or not os.access(sys.argv[0], os.X_OK) else shlex.quote(sys.argv[0])


def colored(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return the text with an ANSI style when the stream (stdout by default) is a terminal, or under ``--color always``."""
    codes = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1"}
    terminal = (stream or sys.stdout).isatty()
    plain = GLOBALS.color == "never" or (GLOBALS.color == "auto" and (not terminal or bool(os.environ.get("NO_COLOR"))))
    return text if plain else f"\x1b[{codes[style]}m{text}\x1b[0m"
