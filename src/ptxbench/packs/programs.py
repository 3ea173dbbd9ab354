"""Contract programs: small CUDA programs that try what contracts say, built by nvcc alone, answering in JSON lines.

Each is one ``.cu`` file of ``tests/gpu/contracts``; ``check.hpp`` there writes the answers. Program and answers are ours, yet a
wrong kernel can crash or hang its program: it runs in a process of its own with a limit, and what it said before still counts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import ValidationError

from ptxbench.arch import get
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.packs.evidence import CheckResult, FigureResult
from ptxbench.packs.keys import first_fault
from ptxbench.packs.loading import DATA
from ptxbench.packs.parsing import without_comments
from ptxbench.schema import Record
from ptxbench.toolchain import Toolchain

ARCH = "sm_90a"
BUILD_SECONDS = 240.0
RUN_SECONDS = 30.0
ANSWER_BYTES = 4 << 20
PASSED_ON = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PATH")
"""What a program sees of the environment: enough to find the driver and the device."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"/]+)"', re.M)
_LITERAL = re.compile(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"')


class DeviceAnswer(Record):
    """What a program says first: where it runs. Versions as the runtime numbers them (13000 for 13.0)."""

    device: str
    capability: str
    cuda_driver: int
    cuda_runtime: int


class Answers(Record):
    """Everything that one program said, and how it ended."""

    program: str
    device: DeviceAnswer | None
    checks: tuple[CheckResult, ...]
    figures: tuple[FigureResult, ...]
    fault: str | None
    """Why the program did not come to its end: a CUDA error, a time-out, a crash, an answer that cannot be read."""
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it ended by itself and nothing was wrong."""
        return self.fault is None and not any(check.failed for check in self.checks)


def found(folder: Path) -> list[Path]:
    """Return the programs of a folder, by name."""
    return sorted(folder.glob("*.cu"))


def sources(program: Path) -> Iterator[Path]:
    """Yield a program's file and the files beside it that it includes, each once."""
    waiting, seen = [program], set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in seen and path.is_file():
            seen.add(path)
            yield path
            waiting += [path.with_name(name) for name in _INCLUDE.findall(path.read_text(encoding="utf-8"))]


def contracts_of(program: Path) -> set[str]:
    """Return the ids that a program can report: its string literals of words joined by hyphens."""
    return {name for path in sources(program) for name in _LITERAL.findall(without_comments(path.read_text(encoding="utf-8")))}


def build(tools: Toolchain, program: Path, target: Path, include: Path = DATA / "include") -> str | None:
    """Compile a program for ``sm_90a``. Returns None, or what nvcc said when it failed."""
    done = run_tool(
        # Not -arch=sm_90a: nvcc 13.0 would assemble the program for plain sm_90 as well, which has no wgmma.
        [
            *(str(tools.nvcc), "-std=c++17", "-O2", "-gencode", get(ARCH).gencode, "-ccbin", str(tools.host_compiler)),
            *("-cudart", "static", "-L", str(tools.cudart.parent), f"-I{include}", f"-I{program.parent}"),
            *("-o", str(target), str(program)),
        ],
        limits=ProcessLimits(wall_seconds=BUILD_SECONDS),
        env={"PATH": tools.path, "TMPDIR": str(target.parent), "LC_ALL": "C"},
    )
    if done.ok:
        return None
    return f"not compiled within {BUILD_SECONDS:g} s" if done.timed_out else (done.stderr or done.stdout)[-4000:]


def build_all(tools: Toolchain, programs: Iterable[Path], folder: Path, jobs: int | None = None) -> dict[str, str | None]:
    """Compile programs beside each other into ``folder``; return what each failed with, None for success, by name."""
    each = list(programs)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        said = pool.map(lambda program: build(tools, program, folder / program.stem), each)
        return {program.stem: fault for program, fault in zip(each, said, strict=True)}


def run(binary: Path, *arguments: str) -> Answers:
    """Run a built program to its end, at most ``RUN_SECONDS``, and read its answers."""
    env = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    limits = ProcessLimits(wall_seconds=RUN_SECONDS, output_bytes=ANSWER_BYTES)
    done = run_tool([str(binary), *arguments], limits=limits, env=env)
    device: DeviceAnswer | None = None
    checks: list[CheckResult] = []
    figures: list[FigureResult] = []
    fault = None
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
            if "error" in answer:
                fault = str(answer["error"])
            elif "device" in answer:
                device = DeviceAnswer.model_validate(answer)
            elif answer.pop("perf", False):
                figures.append(FigureResult.model_validate({"program": binary.name} | answer))
            else:
                checks.append(CheckResult.model_validate({"program": binary.name} | answer))
        except (json.JSONDecodeError, AttributeError, TypeError) as error:
            fault = fault or f"answered {line[:200]!r}: {error}"
        except ValidationError as error:
            fault = fault or f"answered {line[:200]!r}: {first_fault(error)}"
    if done.timed_out:
        fault = f"not ended after {RUN_SECONDS:g} s; {_last(checks)}"
    elif fault is None and done.returncode != (1 if any(check.failed for check in checks) else 0):
        fault = f"ended with status {done.returncode}; {_last(checks)}; {done.stderr[-400:]}".rstrip("; ")
    return Answers(
        program=binary.name,
        device=device,
        checks=tuple(checks),
        figures=tuple(figures),
        fault=fault,
        seconds=round(done.seconds, 3),
    )


def _last(checks: list[CheckResult]) -> str:
    return f"last answer: {checks[-1].contract}: {checks[-1].check}" if checks else "no check was answered"
