"""The text of the bundled reference implementations, with their constants set."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def reference_source(name: str, **constants: bool | int) -> str:
    """Return the text of ``reference_code/<name>.py`` with top-level constants such as ``CAUSAL`` set to other values.

    Raises ``ValueError`` when the file does not assign such a constant exactly once.
    """
    text = (files("ptxbench.suite") / "reference_code" / f"{name}.py").read_text(encoding="utf-8")
    for constant, value in constants.items():
        text, found = re.subn(rf"^{constant} = .*$", f"{constant} = {value!r}", text, flags=re.MULTILINE)
        if found != 1:
            raise ValueError(f"reference_code/{name}.py assigns {constant} {found} times")
    return text
