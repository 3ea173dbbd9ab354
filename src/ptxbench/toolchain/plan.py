"""nvcc's own plan for a compilation, taken apart so that its two halves can run beside each other.

``nvcc --dryrun`` prints, in 10 ms, the environment and the commands that a run would consist of. Executed one after the other they
are that run; but the device half (preprocess, cicc, ptxas, fatbinary) and the host half (preprocess, cudafe++, host compiler) only
meet in the stub that registers the device code, at the very end of the host compiler's source (see ``halves.py``).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.atomic import storage_error
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.toolchain.command import MODULE_ID, OUTPUT, Command

STEPS = ("host_preprocess", "front", "device_preprocess", "cicc", "ptxas", "fatbinary", "host_compile", "link")
"""A plan's steps, in nvcc's order."""

_MARKS = (
    r' -E .*\.cpp4\.ii"', r"\bcudafe\+\+ ", r' -E .*\.cpp1\.ii"', r"\bcicc\b", r"\bptxas ", r"^fatbinary ",
    r' -c .*\.cudafe1\.cpp"', r' -shared .*-Wl,--end-group -o "',
)  # fmt: skip
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)")


@dataclass(frozen=True)
class Plan:
    """The commands of one compilation, by step, as a shell takes them, and their environment.

    Attributes:
        commands: what nvcc would run, but that cicc writes its stub to ``stub`` (see ``pipe``).
        shown: what nvcc would run and say.
        output: the folder of what the steps write.
        stem: the source's name without its ending.
    """

    commands: Mapping[str, str]
    shown: Mapping[str, str]
    env: Mapping[str, str]
    output: Path
    stem: str

    @property
    def pipe(self) -> Path:
        """The stub's own name: what the host compiler reads."""
        return self.output / f"{self.stem}.cudafe1.stub.c"

    @property
    def stub(self) -> Path:
        """Where cicc writes the stub."""
        return self.output / f"{self.stem}.cudafe1.stub"

    @property
    def image(self) -> Path:
        """The device code as it becomes part of the object; fatbinary writes it, and as a source to include in the stub."""
        return self.output / f"{self.stem}.fatbin"


def plan(run: Command, folder: Path, stem: str, limits: ProcessLimits, cancel: threading.Event | None) -> Plan | None:
    """Return nvcc's plan of a run in ``folder``; None when it is not the one that we know, and nvcc had better run it itself.

    ``stem`` is the source's name without its ending. Raises ``Cancelled`` when ``cancel`` is set, and
    ``StorageError`` when the disk is full.
    """
    argv = [run.argv[0], "--dryrun", *(argument for argument in run.argv[1:] if argument != "-v")]
    done = run_tool(argv, limits=limits, env=run.env, cwd=folder, cancel=cancel)
    lines = [line[3:] for line in done.stderr.splitlines() if line.startswith("#$ ")]
    assignments = {match[1]: match[2] for line in lines if (match := _ASSIGNMENT.match(line)) is not None}
    commands = [line for line in lines if _ASSIGNMENT.match(line) is None]
    known = len(commands) == len(_MARKS) and all(re.search(mark, line) for mark, line in zip(_MARKS, commands, strict=True))
    if not done.ok or not known:
        return None
    shown = dict(zip(STEPS, commands, strict=True))
    pipe, stub = f"../{OUTPUT}/{stem}.cudafe1.stub.c", f"../{OUTPUT}/{stem}.cudafe1.stub"
    cicc = shown["cicc"].replace(f'"{pipe}"', f'"{stub}"')
    if cicc == shown["cicc"]:
        return None
    # cudafe++ would hand cicc a module id; both take ours (see nvcc_cudafe.sh).
    output = folder.parent / OUTPUT
    try:
        (output / f"{stem}.module_id").write_text(run.env[MODULE_ID], encoding="ascii")
    except OSError as error:
        raise storage_error(error, output) from error
    # An empty entry would have the tools look for libraries among the candidate's sources.
    assignments["LD_LIBRARY_PATH"] = assignments.get("LD_LIBRARY_PATH", "").strip(":")
    return Plan(shown | {"cicc": cicc}, shown, dict(run.env) | assignments, output, stem)
