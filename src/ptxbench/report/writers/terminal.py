"""Tables for the terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence

from ptxbench.report.heading import heading_of, telling
from ptxbench.report.table import Table
from ptxbench.report.writers.texts import body, footnotes, is_numeric, titles


def terminal(tables: Sequence[Table], width: int | None = None) -> str:
    """Return tables drawn with boxes, as wide as ``width`` characters (None: as the terminal)."""
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    stream = io.StringIO()
    console = Console(file=stream, width=width or shutil.get_terminal_size((140, 24)).columns, color_system=None, highlight=False)
    besides = telling([table.facts for table in tables])
    for number, table in enumerate(tables):
        if number:
            console.print()
        heading = heading_of(table.facts, besides=besides)
        drawn = Drawn(title=Text("\n".join(filter(None, (table.title, heading)))), title_justify="left", title_style="bold")
        for column in table.columns:
            title, below = titles(column)
            drawn.add_column(
                Text(f"{title}\n{below}" if below else title),
                justify="center" if column.limits else "right" if is_numeric(column) else "left",
                overflow="fold",
                no_wrap=is_numeric(column) and bool(column.limits),
            )
        published = False
        for line, cells in body(table):
            if line.source is not None and not published:
                drawn.add_section()
                published = True
            drawn.add_row(*(Text("\n".join(cell)) for cell in cells))
        console.print(drawn)
        for note in footnotes(table):
            console.print(Text(note))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"
