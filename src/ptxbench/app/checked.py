"""Records out of what a user typed, with an error that names the option in place of pydantic's."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ptxbench.core.errors import UsageError

R = TypeVar("R", bound=BaseModel)

SPELLED = {
    "cost_usd": "max-cost",
    "total_tokens": "max-total-tokens",
    "turns_now": "max-turns-now",
    "profile": "protocol",
    "tasks": "task",
}
"""Settings whose option has another name than they."""


def checked(record: type[R], **values: Any) -> R:
    """Return the record of these values. Raises ``UsageError`` that names the first one that cannot be used."""
    try:
        return record(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = "".join(f"--{SPELLED.get(str(part), str(part).replace('_', '-'))}: " for part in first["loc"][:1])
        raise UsageError(f"{name}{first['msg'].removeprefix('Value error, ')}", next_step="see ptxbench run --help") from None
