"""One self-contained HTML page of any set of runs: ``write_page`` makes the file."""

from ptxbench.report.page.writing import Written, write_page

__all__ = ["Written", "write_page"]
