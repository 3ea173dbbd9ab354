"""Figures as SVG and PNG, without a browser."""

from __future__ import annotations

import json

from ptxbench.core.errors import UsageError
from ptxbench.core.extras import how_to_install
from ptxbench.report.figure import Figure

SCALE = 2.0
"""Pixels of a PNG for each of the figure's."""


def svg(figure: Figure) -> str:
    """Return a figure as SVG. Raises ``UsageError`` when the extra is not installed."""
    try:
        import vl_convert
    except ImportError as missing:
        raise _needed() from missing
    return vl_convert.vegalite_to_svg(json.dumps(figure.spec))


def png(figure: Figure) -> bytes:
    """Return a figure as PNG. Raises ``UsageError`` when the extra is not installed."""
    try:
        import vl_convert
    except ImportError as missing:
        raise _needed() from missing
    return vl_convert.vegalite_to_png(json.dumps(figure.spec), scale=SCALE)


def _needed() -> UsageError:
    return UsageError("pictures need vl-convert-python, which is not installed", next_step=how_to_install("report"))
