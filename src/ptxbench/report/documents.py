"""Tables and figures of one kind in one format: a text for stdout or files for a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxbench.report.figure import Figure
from ptxbench.report.table import Table

TABLE_FORMATS = {"table": "txt", "markdown": "md", "latex": "tex", "csv": "csv", "json": "json"}
"""Formats of tables, and the endings of their files."""

FIGURE_FORMATS = {"svg": "svg", "png": "png", "csv": "csv", "json": "json"}
"""Formats of figures, and the endings of their files."""


@dataclass(frozen=True)
class Document:
    """A file to be: its name and content."""

    name: str
    content: bytes

    @property
    def text(self) -> str:
        """The content of a file that is text."""
        return self.content.decode("utf-8")


def table_document(kind: str, tables: Sequence[Table], format: str, width: int | None = None) -> Document:
    """Return all tables of a kind as one file."""
    from ptxbench.report.writers.csv_text import tables_csv
    from ptxbench.report.writers.json_text import as_json
    from ptxbench.report.writers.latex import latex
    from ptxbench.report.writers.markdown import markdown
    from ptxbench.report.writers.terminal import terminal

    match format:
        case "markdown":
            text = markdown(tables)
        case "latex":
            text = latex(tables)
        case "csv":
            text = tables_csv(tables)
        case "json":
            text = as_json(tables, ())
        case _:
            text = terminal(tables, width)
    return Document(f"table-{kind}.{TABLE_FORMATS[format]}", text.encode("utf-8"))


def figure_documents(kind: str, figures: Sequence[Figure], format: str) -> list[Document]:
    """Return the figures of a kind: a picture each, or one file of their data."""
    from ptxbench.report.writers.csv_text import figures_csv
    from ptxbench.report.writers.json_text import as_json
    from ptxbench.report.writers.pictures import png, svg

    if format in ("csv", "json"):
        text = figures_csv(figures) if format == "csv" else as_json((), figures)
        return [Document(f"figure-{kind}.{format}", text.encode("utf-8"))]
    found = []
    for number, one in enumerate(figures, 1):
        name = f"figure-{kind}.{format}" if len(figures) == 1 else f"figure-{kind}-{number}.{format}"
        found.append(Document(name, png(one) if format == "png" else svg(one).encode("utf-8")))
    return found
