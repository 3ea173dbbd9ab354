"""Nothing of the judging machine is shown to a model: absolute paths shrink to their last part."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from ptxbench.schema import Record

_PATH = re.compile(r"(?:(?<=-[ILB])|(?<=-isystem)|(?<=file://)|(?<![\w./-]))/(?:[\w.+@~-]+/)+([\w.+@~-]*)")
"""Also where a compiler option or a file address stands right before it; not inside a relative path or a web address."""

R = TypeVar("R", bound=Record)


def hide_paths(text: str) -> str:
    """Return the text with every absolute path of two or more parts replaced by its last part."""
    return _PATH.sub(lambda match: match.group(1) or "…", text)


def without_paths(record: R) -> R:
    """Return the record with absolute paths hidden in every text that it holds."""
    return type(record).model_validate(_walk(record.model_dump(mode="json")))


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return hide_paths(value) if "/" in value else value
    if isinstance(value, dict):
        return {key: _walk(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item) for item in value]
    return value
