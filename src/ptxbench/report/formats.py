"""A report as terminal table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from ptxbench.core.errors import UsageError
from ptxbench.metrics import AtLimit, Row
from ptxbench.report.cells import COLUMNS, comparable_groups, differences, heading, notes, table_lines
from ptxbench.schema import CellKey

Format = Literal["table", "json", "csv", "markdown"]


NARROW_WIDTH = 132
"""Below this the terminal table leaves out medians and writes outcomes below itself."""


def render(rows: Sequence[Row], format: Format | str, *, width: int | None = None) -> str:
    """Return the rows in a format. ``width`` (in characters; None is the terminal's) is for ``table``.

    Raises ``UsageError`` for another format.
    """
    writers: dict[str, Callable[[], str]] = {
        "table": lambda: _table(rows, width),
        "json": lambda: _json(rows),
        "csv": lambda: _csv(rows),
        "markdown": lambda: _markdown(rows),
    }
    if format not in writers:
        raise UsageError(f"unknown report format {format!r}", next_step=f"known: {', '.join(get_args(Format))}")
    return writers[format]()


def _json(rows: Sequence[Row]) -> str:
    return json.dumps([row.model_dump(mode="json") for row in rows], indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: Sequence[Row]) -> str:
    """Return one line per row and turn limit."""
    stream = io.StringIO()
    numbers = [name for name in AtLimit.model_fields if name != "ci95"]
    bounds = [f"{rate}_{end}" for rate in ("turn_correctness", "target_turn_correctness") for end in ("ci95_low", "ci95_high")]
    plain = ["baseline", "trajectories", "n_planned", "n_evaluated", "complete"]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*CellKey.model_fields, *plain, "k", *numbers, *bounds])
    for row in rows:
        for k, at in row.at.items():
            cells: list[Any] = [getattr(row.key, name) for name in CellKey.model_fields]
            cells += [getattr(row, name) for name in plain]
            cells += [k, *(getattr(at, name) for name in numbers)]
            for rate in ("turn_correctness", "target_turn_correctness"):
                cells += at.ci95.get(rate) or (None, None)
            writer.writerow(cells)
    return stream.getvalue()


def _markdown(rows: Sequence[Row]) -> str:
    if not rows:
        return "No turns.\n"
    parts = []
    for group in comparable_groups(rows):
        lines = [escaped(heading(group)), "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        for line in table_lines(group):
            pairs = ["<br>".join(pair) for pair in (line.correctness, line.best, line.median)]
            cells = [escaped(line.model), escaped(line.task), line.turns, *pairs, line.outcomes]
            lines.append("| " + " | ".join(cells) + " |")
        footnotes = notes(group)
        lines += ["", *(f"{note}  " for note in footnotes[:-1]), *footnotes[-1:]]
        parts.append("\n".join(lines) + "\n")
    apart = differences(comparable_groups(rows))
    if apart:
        parts.append(apart + "\n")
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Return a name that Markdown shows as it is: no cell, tag, link, emphasis or code begins in it."""
    return "".join(f"\\{c}" if c in "\\|<>`*[]" else c for c in text)


def _table(rows: Sequence[Row], width: int | None) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    stream = io.StringIO()
    width = width or shutil.get_terminal_size((140, 24)).columns
    console = Console(file=stream, width=width, color_system=None, highlight=False)
    if not rows:
        console.print("No turns.")
    narrow = width < NARROW_WIDTH
    for number, group in enumerate(comparable_groups(rows)):
        if number:
            console.print()
        table = Table(title=Text(heading(group)), title_justify="left", title_style="bold", show_lines=True)
        model, task, n, *numbers, outcomes = COLUMNS
        table.add_column(f"{task}, {model}" if narrow else model, overflow="fold")
        if not narrow:
            table.add_column(task, overflow="fold")
        for column in (n, *(numbers[:2] if narrow else numbers)):
            table.add_column(column.replace(" ≤1", "\n≤1"), justify="center", no_wrap=width >= 80)
        if not narrow:
            table.add_column(outcomes)
        for line in table_lines(group):
            pairs = ["\n".join(pair) for pair in (line.correctness, line.best, line.median)]
            wide = (line.model, line.task, line.turns, *pairs, line.outcomes)
            cells = (f"{line.task}\n{line.model}", line.turns, *pairs[:2]) if narrow else wide
            table.add_row(*map(Text, cells))
        console.print(table)
        told = [f"{line.task}, {line.model}: {line.outcomes}" for line in table_lines(group)] if narrow else []
        for note in (*told, *notes(group)):
            console.print(Text(note, style="dim"))
    apart = differences(comparable_groups(rows))
    if apart:
        console.print(Text(apart))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"
