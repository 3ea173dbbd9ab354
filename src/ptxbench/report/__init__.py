"""Tables from rows of metrics: ``render(rows, format)``; ``load_turns(folders)`` reads run directories."""

from ptxbench.report.formats import Format, render
from ptxbench.report.loading import RunTable, load_turns

__all__ = ["Format", "RunTable", "load_turns", "render"]
