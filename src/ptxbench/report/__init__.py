"""What runs found, to read and to print.

``load_runs(folders)`` reads run directories; ``render(rows, format)`` is the overview of rows of metrics. ``catalogue`` has the
kinds of table and figure, records that ``documents`` puts into a format.
"""

from ptxbench.report.formats import Format, render
from ptxbench.report.loading import RunTable, load_runs

__all__ = ["Format", "RunTable", "load_runs", "render"]
