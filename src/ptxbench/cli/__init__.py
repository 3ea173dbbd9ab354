"""The command line: one file per command group, no logic. ``main`` is the entry point of the ``ptxbench`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; errors of ours become one clear line, a next step and the right exit code."""
    from ptxbench.cli.application import application
    from ptxbench.cli.console import show_error
    from ptxbench.core.errors import PtxbenchError

    try:
        application()
    except PtxbenchError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader (head, less) went away: not an error of ours, and nobody is left to tell.
        sys.stderr.close()
        sys.exit(0)
