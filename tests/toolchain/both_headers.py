"""Compile a candidate with the slim and with the full TVM-FFI headers, and call what came out of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Limits, Violation
from ptxbench.toolchain import Builder, Toolchain, locate, read_candidate
from ptxbench.toolchain.compile import How, compile_candidate
from ptxbench.toolchain.fitness import fit_macros
from ptxbench.toolchain.policing import PolicyParts, inspected, screened
from ptxbench.toolchain.reading import Reading, read

CHILD = Path(__file__).with_name("header_calls.py")
KINDS = "tTheZnijbfsSLyYdvpBE"


def arch_of(path: Path) -> str:
    return "sm_100a" if "sm_100a" in path.parts else "sm_90a"


@dataclass(frozen=True)
class Compiled:
    reading: Reading
    violations: tuple[Violation, ...]

    def exported(self) -> set[str]:
        """Names that the library defines for others, but for those of C++ namespaces, which no caller uses."""
        return {name for name in self._symbols("--defined-only") if not name.startswith("_Z")}

    def imported(self) -> set[str]:
        return self._symbols("--undefined-only")

    def _symbols(self, which: str) -> set[str]:
        command = ["nm", "-D", which, str(self.reading.compilation.library)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def compile_with(path: Path, header: str, settings: Settings, folder: Path, how: How = "halves") -> Compiled:
    """Compile a file in ``folder`` with the given headers, whatever a build would choose."""
    candidate: Candidate = read_candidate(path, arch=arch_of(path))
    tools = locate(settings)
    policy = PolicyParts(Builder(settings).cache).inputs(tools)
    slim = fit_macros(candidate, tools) if header == "slim" else None
    assert (slim is not None) == (header == "slim"), f"{path.name} does not take the slim headers"
    folder.mkdir(parents=True, exist_ok=True)
    compilation = compile_candidate(candidate, tools, policy, folder, Limits(), slim=slim, how=how)
    reading = read(candidate, tools, compilation, Limits())
    return Compiled(reading, tuple(dict.fromkeys((*screened(candidate), *inspected(candidate, compilation)))))


def good_calls(path: Path) -> list[tuple[str, str]]:
    """Return the calls that a corpus file names, with arguments of the right kinds."""
    lines = re.findall(r"^// good: (\w+)(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [(name, letters.replace(" ", "")) for name, letters in lines]


def calls(path: Path) -> list[tuple[str, str]]:
    """Return the calls to try: the good ones, and each with something wrong about it."""
    found: dict[tuple[str, str], None] = {}
    for name, good in good_calls(path):
        tried = [good, good[:-1], good + "i", good + "t", "", "n" * len(good), "f" * len(good)]
        tried += [good[:at] + kind + good[at + 1 :] for at in range(len(good)) for kind in KINDS]
        found.update(dict.fromkeys((name, kinds) for kinds in tried))
    return list(found)


def results(tools: Toolchain, library: Path, tried: list[tuple[str, str]]) -> list[Any]:
    """Call each in turn; a call that kills the child is the signal's number, and the next ones get a new child."""
    answers: list[Any] = []
    while len(answers) < len(tried):
        command = [
            sys.executable,
            "-I",
            "-S",
            str(CHILD),
            str(tools.cudart),
            str(tools.tvm_library),
            str(library),
            str(len(answers)),
        ]
        done = subprocess.run(command, input=json.dumps(tried), capture_output=True, text=True, timeout=120)
        answers += [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode < 0:
            answers.append(done.returncode)
        else:
            assert done.returncode == 0, done.stderr
    return answers
