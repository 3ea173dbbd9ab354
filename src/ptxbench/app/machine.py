"""The settings of this machine, with a clear error for a variable that cannot be used."""

from __future__ import annotations

from pydantic import ValidationError

from ptxbench.core.errors import UsageError
from ptxbench.core.settings import Settings


def machine_settings() -> Settings:
    """Return the settings from the environment. Raises ``UsageError`` that names the variable."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = f"PTXBENCH_{'_'.join(map(str, first['loc'])).upper()}"
        raise UsageError(
            f"{name}={first['input']!r} cannot be used: {first['msg']}", next_step=f"correct it, or unset {name}"
        ) from None
