"""What the commands share: the global options, printing for people and for machines."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ptxbench.core.errors import PtxbenchError


@dataclass
class Globals:
    """Options that stand before the command."""

    suite: list[Path] = field(default_factory=list)
    json: bool = False
    verbose: int = 0
    color: str = "auto"


GLOBALS = Globals()


def wants_json(local: bool) -> bool:
    """Return whether to print JSON, given the command's own ``--json``; remembered for errors."""
    GLOBALS.json = GLOBALS.json or local
    return GLOBALS.json


def print_json(value: Any) -> None:
    """Print a record, or plain JSON value, to stdout."""
    sys.stdout.write(json.dumps(_plain(value), indent=1, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def say(text: str = "") -> None:
    """Print a line of a command's answer to stdout."""
    sys.stdout.write(text + "\n")


def progress(text: str) -> None:
    """Print a line of progress to stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def show_error(error: PtxbenchError) -> None:
    """Print an error: one line and its next step on stderr, and the JSON form on stdout when JSON was asked for."""
    if GLOBALS.json:
        print_json(error.as_json())
    message = " ".join(error.message.splitlines())
    sys.stderr.write(f"error: {message}\n")
    if error.next_step:
        sys.stderr.write(f"  next: {error.next_step}\n")


def colored(text: str, style: str) -> str:
    """Return the text with an ANSI style when stdout is a terminal (or ``--color always``)."""
    import os

    codes = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1"}
    plain = GLOBALS.color == "never" or (GLOBALS.color == "auto" and (not sys.stdout.isatty() or "NO_COLOR" in os.environ))
    return text if plain else f"\x1b[{codes[style]}m{text}\x1b[0m"
