"""Tables for the terminal, in parts where it is narrow."""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from ptxbench.report.heading import heading_of, telling
from ptxbench.report.table import Column, Line, Table
from ptxbench.report.writers.texts import body, footnotes, is_numeric, titles

LEAST_TEXT = 12
"""Columns of names fold down to this many characters before a table is drawn in parts."""

Rows = list[tuple[Line, list[tuple[str, ...]]]]

BORDER = 3
"""Characters that a column takes beside its text."""


def terminal(tables: Sequence[Table], width: int | None = None) -> str:
    """Return tables drawn with boxes, as wide as ``width`` characters (None: as the terminal).

    A table that is wider comes in parts, each with the columns that name its rows; no figure is ever cut.
    """
    stream = io.StringIO()
    width = width or shutil.get_terminal_size((140, 24)).columns
    console = Console(file=stream, width=width, color_system=None, highlight=False)
    besides = telling([table.facts for table in tables])
    for number, table in enumerate(tables):
        if number:
            console.print()
        console.print(Text("\n".join(filter(None, (table.title, heading_of(table.facts, besides=besides))))))
        rows = list(body(table))
        for part in _parts(table, rows, width):
            console.print(_drawn(table, rows, part))
        for note in footnotes(table):
            console.print(Text(note))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _parts(table: Table, rows: Rows, width: int) -> list[list[int]]:
    """Return the columns of each part, by index: those that name rows, and as many others as fit beside them."""
    wide = [_width(rows, index, column) for index, column in enumerate(table.columns)]
    names = [index for index, column in enumerate(table.columns) if not is_numeric(column)]
    others = [index for index in range(len(table.columns)) if index not in names]
    room = width - 1 - sum(min(wide[index], LEAST_TEXT) + BORDER for index in names)
    parts: list[list[int]] = [[]]
    taken = 0
    for index in others:
        if parts[-1] and taken + wide[index] + BORDER > room:
            parts.append([])
            taken = 0
        parts[-1].append(index)
        taken += wide[index] + BORDER
    return [sorted([*names, *part]) for part in parts]


def _width(rows: Rows, index: int, column: Column) -> int:
    """Return how wide a column must be for no figure of it to be broken; its title may break between words."""
    title, below = titles(column)
    texts = [*title.split(), below, *(text for _, cells in rows for text in cells[index])]
    return max(map(len, texts))


def _drawn(table: Table, rows: Rows, part: Sequence[int]) -> Drawn:
    drawn = Drawn()
    for index in part:
        column = table.columns[index]
        title, below = titles(column)
        kept = _width(rows, index, column) if is_numeric(column) else None
        drawn.add_column(
            Text("\n".join(filter(None, (*(textwrap.wrap(title, kept) if kept else [title]), below)))),
            justify="center" if column.limits else "right" if is_numeric(column) else "left",
            overflow="fold",
            no_wrap=is_numeric(column),
            min_width=kept,
        )
    published = False
    for line, cells in rows:
        if line.source is not None and not any(any(cells[index]) for index in part if is_numeric(table.columns[index])):
            continue
        if line.source is not None and not published:
            drawn.add_section()
            published = True
        drawn.add_row(*(Text("\n".join(cells[index])) for index in part))
    return drawn
