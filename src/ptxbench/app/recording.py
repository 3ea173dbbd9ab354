"""Recordings of a model's answers for the quickstart: reference kernels with a model's mistakes put back in."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path

from ptxbench.core.atomic import write_atomic
from ptxbench.schema import Language, Record
from ptxbench.suite.kernels import kernel_path

FENCE = {Language.CUDA: "cpp", Language.CPP: "cpp", Language.PYTHON: "python"}


class RecordedTurn(Record):
    """One answer: prose, a reference kernel, the texts to replace in it, and the outcome on a machine that can decide it."""

    expect: str
    before: str
    kernel: str
    replace: tuple[tuple[str, str], ...]

    def source(self) -> str:
        """Return the kernel's source with the mistakes put in. Raises ``ValueError`` when a text to replace is not there."""
        text = kernel_path(self.kernel).read_text(encoding="utf-8")
        for old, new in self.replace:
            if text.count(old) != 1:
                raise ValueError(f"{self.kernel} holds {text.count(old)} times {old!r}")
            text = text.replace(old, new)
        return text


class Recording(Record):
    """A recorded trajectory on one task."""

    task: str
    arch: str
    language: Language
    turn: tuple[RecordedTurn, ...]

    def write_replies(self, path: Path) -> None:
        """Write the answers in the form that the model ``replay/FILE`` reads."""
        lines = []
        for number, turn in enumerate(self.turn):
            text = f"{turn.before.strip()}\n\n```{FENCE[self.language]}\n{turn.source()}```\n"
            lines.append(json.dumps({"trajectory": None, "turn": number, "text": text}))
        write_atomic(path, ("\n".join(lines) + "\n").encode())


def load_recording(name: str) -> Recording:
    """Return the bundled recording of that name."""
    text = files("ptxbench.app").joinpath("recordings", f"{name}.toml").read_text(encoding="utf-8")
    return Recording.model_validate(tomllib.loads(text))
