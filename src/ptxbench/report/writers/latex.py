"""Tables as LaTeX; a document needs the packages booktabs and graphicx."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ptxbench.report.heading import heading_of, telling
from ptxbench.report.table import Table
from ptxbench.report.writers.texts import body, footnotes, is_numeric, titles

PREAMBLE = "% needs \\usepackage{booktabs,graphicx}\n"

WIDE = 80
"""Characters of a row beyond which a table is shrunk to the width of the text."""

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "–": "--",
    "[": "{[}",
    "]": "{]}",
}
"""Characters that LaTeX does not print as they are; brackets, since one after ``\\\\`` would be its argument."""


def latex(tables: Sequence[Table]) -> str:
    """Return each table as a float with caption and footnotes; the two lines of a cell are two rows."""
    besides = telling([table.facts for table in tables])
    labels = [f"tab:{table.kind}" + (f"-{number}" if len(tables) > 1 else "") for number, table in enumerate(tables, 1)]
    return PREAMBLE + "\n".join(
        _one(table, heading_of(table.facts, besides=besides), label) for table, label in zip(tables, labels, strict=True)
    )


def escape(text: str) -> str:
    """Return a text that LaTeX prints as it is."""
    return "".join(SPECIAL.get(c, c) for c in text)


def _one(table: Table, heading: str, label: str) -> str:
    kinds = "".join("r" if is_numeric(column) else "l" for column in table.columns)
    heads = [titles(column) for column in table.columns]
    caption = f"{escape(table.title)}. {escape(heading)}" if heading else escape(table.title)
    rows = list(body(table))
    wide = (
        sum(max(map(len, (*heads[at], *(text for _, cells in rows for text in cells[at])))) + 2 for at in range(len(heads))) > WIDE
    )
    out = ["\\begin{table}[t]", "\\centering\\small", f"\\caption{{{caption}}}", f"\\label{{{label}}}"]
    out += ["\\resizebox{\\linewidth}{!}{%"] if wide else []
    out += [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule", *_rows(heads), "\\midrule"]
    published = False
    for line, cells in rows:
        if line.source is not None and not published:
            out.append("\\midrule")
            published = True
        out += _rows(cells)
    out += ["\\bottomrule", "\\end{tabular}" + ("}" if wide else "")]
    notes = footnotes(table)
    if notes:
        out += ["\\par\\smallskip", "\\parbox{\\linewidth}{\\footnotesize"]
        out += [escape(note) + ("\\\\" if note is not notes[-1] else "}") for note in notes]
    return "\n".join([*out, "\\end{table}"]) + "\n"


def _rows(cells: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of cells as rows."""
    rows = [row for row in zip_longest(*cells, fillvalue="") if any(row)]
    return [" & ".join(map(escape, row)) + " \\\\" for row in rows]
