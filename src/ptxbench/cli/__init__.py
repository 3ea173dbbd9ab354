"""The command line: one file per command group, no logic. ``main`` is the entry point of the ``ptxbench`` command."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; errors of ours become one clear line, a next step and the right exit code."""
    try:
        from ptxbench.cli.application import application
        from ptxbench.cli.console import GLOBALS, INTERRUPTED, prepare_streams, progress, show_error, show_fault
        from ptxbench.cli.hoisting import hoisted
        from ptxbench.core.errors import InfrastructureError, PtxbenchError
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)

    prepare_streams()
    try:
        application(hoisted(sys.argv[1:]))
    except PtxbenchError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _hear_no_more()
        progress(GLOBALS.when_interrupted)
        sys.exit(INTERRUPTED)
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            _hear_no_more()
            progress(GLOBALS.when_interrupted)
        raise
    except Exception as error:  # noqa: BLE001 - the outermost boundary: Python's own exit code, 1, would blame the candidate
        if _began_with_an_interrupt(error):
            _hear_no_more()
            progress(GLOBALS.when_interrupted)
            sys.exit(INTERRUPTED)
        show_fault()
        sys.exit(InfrastructureError.exit_code)


def _hear_no_more() -> None:
    """Let a further Ctrl-C pass: the command ends already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _began_with_an_interrupt(error: BaseException | None) -> bool:
    """Whether an error came of Ctrl-C: a library that is interrupted while it is imported says so in an error of its own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
