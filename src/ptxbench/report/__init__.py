"""Tables from rows of metrics: ``render(rows, format)``; ``load_runs(folders)`` reads run directories."""

from ptxbench.report.formats import Format, render
from ptxbench.report.loading import RunTable, load_runs

__all__ = ["Format", "RunTable", "load_runs", "render"]
