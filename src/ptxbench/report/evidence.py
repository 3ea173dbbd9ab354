"""Evidence files: what a benchmark measured, with its command, commit, date and machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from ptxbench.core.errors import UsageError


class Evidence(BaseModel):
    """One file; keys that this version does not know are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    command: str
    commit: str
    date: str
    machine: dict[str, JsonValue]
    figures: dict[str, JsonValue]

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU measured."""
        return isinstance(self.figures.get("gpu"), dict)

    @property
    def device(self) -> str:
        """The GPU, or else the processor, that measured."""
        gpu = self.figures.get("gpu")
        named = gpu.get("name") if isinstance(gpu, dict) else None
        return str(named or f"{self.machine.get('processor')}, {self.machine.get('cores')} cores")

    def figure(self, path: str) -> JsonValue:
        """Return the figure at a dotted path; None where there is none."""
        found: JsonValue = self.figures
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found


def read_evidence(path: Path) -> Evidence:
    """Return an evidence file. Raises ``UsageError`` for a file that is none."""
    step = "give run directories, or files such as those in evidence/"
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        return Evidence.model_validate({"name": path.stem, **content})
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}", next_step=step) from None
    except (OSError, TypeError, ValueError, ValidationError):
        raise UsageError(
            f"{path} is no evidence file (command, commit, date, machine, figures)",
            next_step=step,
        ) from None
