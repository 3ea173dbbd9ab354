"""How long the nvcc stage of a build takes: one nvcc run with the full TVM-FFI headers, and what builds do now.

Each candidate is compiled by turns, ``plain`` (nvcc's own run, full headers) and ``now`` (slim headers where they fit, device half
beside host half; a failed attempt with the slim headers counts), all in fresh folders, nothing cached. Speedups are ratios of
medians. Cubins of both ways are compared byte by byte. Keep two cores free.

usage: python benchmarks/compile_speed.py OUT.json [REPETITIONS [NAME…]]   (about 20 minutes for 5 repetitions)
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evidence
from ptxbench.core.canonical import sha256
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Limits
from ptxbench.toolchain import Builder, Toolchain, locate, read_candidate
from ptxbench.toolchain.command import PolicyInputs
from ptxbench.toolchain.compile import How, compile_candidate
from ptxbench.toolchain.fitness import fit_macros
from ptxbench.toolchain.policing import PolicyParts
from ptxbench.toolchain.scratch import scratch_folder

REFERENCE = "sm_90a/gemm_bf16"
GOAL_REFERENCE = 3.0
GOAL_ALL = 1.5


@dataclass(frozen=True)
class Bench:
    """What every run shares."""

    tools: Toolchain
    policy: PolicyInputs
    scratch: Path

    def once(self, candidate: Candidate, slim: tuple[str, ...] | None, how: How) -> tuple[float, str | None, str]:
        """Compile once; return seconds, the cubin's hash (None for a failure) and the headers."""
        with scratch_folder(self.scratch) as folder:
            started = time.perf_counter()
            made = compile_candidate(candidate, self.tools, self.policy, folder, Limits(), slim=slim, how=how)
            seconds = time.perf_counter() - started
            cubin = made.kept(".cubin")
            good = made.completed.ok and made.library is not None and cubin is not None
            return seconds, sha256(cubin.read_bytes()) if good and cubin else None, made.header

    def now(self, candidate: Candidate) -> tuple[float, str | None, str]:
        """Compile as a build does."""
        started = time.perf_counter()
        slim = fit_macros(candidate, self.tools)
        spent = time.perf_counter() - started
        if slim is not None:
            seconds, cubin, header = self.once(candidate, slim, "halves")
            spent += seconds
            if cubin is not None:
                return spent, cubin, header
        seconds, cubin, header = self.once(candidate, None, "halves")
        return spent + seconds, cubin, header

    def compare(self, candidate: Candidate, repetitions: int) -> dict[str, Any]:
        """Return the medians of both ways, taken by turns."""
        plain: list[float] = []
        now: list[float] = []
        work: dict[str, list[float]] = {"plain": [], "now": []}
        cubins: set[str | None] = set()
        header = ""
        for _ in range(repetitions):
            before = cpu_seconds()
            seconds, cubin, _ = self.once(candidate, None, "nvcc")
            between = cpu_seconds()
            plain.append(seconds)
            cubins.add(cubin)
            seconds, cubin, header = self.now(candidate)
            now.append(seconds)
            cubins.add(cubin)
            work["plain"].append(between - before)
            work["now"].append(cpu_seconds() - between)
        wall = statistics.median(plain), statistics.median(now)
        return {
            "header": header,
            "compiles": None not in cubins,
            "same_cubin": len(cubins) == 1 if None not in cubins else None,
            "plain_s": round(wall[0], 3),
            "now_s": round(wall[1], 3),
            "plain_cpu_s": round(statistics.median(work["plain"]), 3),
            "now_cpu_s": round(statistics.median(work["now"]), 3),
            "speedup": round(wall[0] / wall[1], 2),
        }


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of all ended child processes: what does not depend on who else is at work."""
    spent = os.times()
    return spent.children_user + spent.children_system


def candidates() -> dict[str, Candidate]:
    """Return the corpus and the reference kernels, by name."""
    found = {}
    for path in sorted((evidence.ROOT / "kernels").glob("sm_*/*/kernel.cu")):
        found["/".join(path.parts[-3:-1])] = read_candidate(path, arch=path.parts[-3])
    for path in sorted((evidence.ROOT / "tests" / "toolchain" / "header_corpus").glob("*.cu")):
        expected = re.search(r"^// header: (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        found[f"{expected[1] if expected else 'slim'}/{path.stem.removeprefix('full_').removeprefix('error_')}"] = read_candidate(
            path, arch="sm_90a"
        )
    return found


def main() -> None:
    out, repetitions = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    chosen = {name: one for name, one in candidates().items() if len(sys.argv) <= 3 or name in sys.argv[3:]}
    with tempfile.TemporaryDirectory() as cache:
        settings = Settings(cache_dir=Path(cache))
        builder, tools = Builder(settings), locate(settings)
        bench = Bench(tools, PolicyParts(builder.cache).inputs(tools), builder.cache.scratch)
        rows = {}
        for name, candidate in chosen.items():
            rows[name] = bench.compare(candidate, repetitions)
            print(name, rows[name], file=sys.stderr, flush=True)
    # An undefined function is an error that the linker only warns of: what the corpus calls an error is none of the speedups.
    compiled = {name: row for name, row in rows.items() if row["compiles"] and not name.startswith("error/")}
    slim = {name: row for name, row in compiled.items() if row["header"] == "slim"}
    figures: dict[str, Any] = {
        "toolchain": tools.versions.model_dump(),
        "repetitions": repetitions,
        "load_average_after": round(os.getloadavg()[0], 2),
        "goals": {"reference_gemm": GOAL_REFERENCE, "every_candidate": GOAL_ALL},
        "reference_gemm_speedup": rows.get(REFERENCE, {}).get("speedup"),
        "median_speedup": round(statistics.median(row["speedup"] for row in compiled.values()), 2),
        "least_speedup": min((row["speedup"], name) for name, row in compiled.items()),
        "least_speedup_slim": min(((row["speedup"], name) for name, row in slim.items()), default=None),
        "same_cubin": all(row["same_cubin"] for row in compiled.values()),
        "candidates": rows,
    }
    evidence.write(out, figures)


if __name__ == "__main__":
    main()
