"""ncu's report as executed counts per kernel: read in a process of its own, checked like any claim, joined with the census."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.evaluate.proof.counts import UNKNOWN_OPCODE
from ptxbench.evaluate.sandbox.claims import COUNTER_END, is_count
from ptxbench.evaluate.tools.locate import SYSTEM_PATH
from ptxbench.schema import ExecutedCount, KernelBuild, KernelProof
from ptxbench.toolchain.disassembly import BOOKKEEPING

WARPS = "sass__inst_executed_per_opcode_with_modifier_all"
THREADS = "sass__thread_inst_executed_true_per_opcode_with_modifier_all"
MOST_BYTES = 256 << 20
"""Largest report that is read; that of one launch has 0.1 MB."""
NAME_CHARACTERS = 4096

_READER = Path(__file__).with_name("ncu_reader.py")
_LIMITS = ProcessLimits(wall_seconds=30, cpu_seconds=30, memory_bytes=8 << 30, file_bytes=1 << 20, output_bytes=64 << 20)


class UnreadableReport(Exception):
    """The report is not there, or is not what ncu writes."""


@dataclass(frozen=True)
class Launch:
    """One profiled launch: by opcode, executions by warps and by threads whose predicate was true."""

    name: str
    warps: Mapping[str, int]
    threads: Mapping[str, int]


def read_report(report: Path, folders: Iterable[Path]) -> tuple[Launch, ...]:
    """Return the launches in a report, read in a process of its own by the first of the ``folders`` whose ncu_report can.

    Raises ``UnreadableReport``.
    """
    try:
        size = report.stat().st_size
    except OSError as error:
        raise UnreadableReport(f"it wrote no report ({error.strerror})") from error
    if size > MOST_BYTES:
        raise UnreadableReport(f"its report is larger than {MOST_BYTES >> 20} MiB")
    said = "no ncu_report"
    for folder in folders:
        command = [sys.executable, "-I", str(_READER), str(folder), str(report), WARPS, THREADS]
        done = run_tool(command, limits=_LIMITS, env={"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8"})
        if done.ok and not done.dropped_bytes:
            return launches(done.stdout)
        said = "it took too long" if done.timed_out else (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    raise UnreadableReport(f"its report cannot be read: {said}")


def launches(text: str) -> tuple[Launch, ...]:
    """Return the launches that the reader printed. Raises ``UnreadableReport`` for anything else than what it prints."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableReport("its report is not what ncu writes: no JSON came of it") from error
    listed = document.get("kernels") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise UnreadableReport("its report is not what ncu writes: it lists no kernels")
    return tuple(_launch(one) for one in listed)


def _launch(one: object) -> Launch:
    name = one.get("name") if isinstance(one, dict) else None
    if not isinstance(one, dict) or not isinstance(name, str) or not 0 < len(name) <= NAME_CHARACTERS or not name.isprintable():
        raise UnreadableReport("its report is not what ncu writes: a kernel without a name")
    warps, threads = _by_opcode(one.get(WARPS)), _by_opcode(one.get(THREADS))
    if not warps or not threads:
        # Every launch executes something: a kernel without counts is one whose counters were not read.
        raise UnreadableReport(f"it counted nothing in the kernel {name[:200]}")
    return Launch(name, warps, threads)


def _by_opcode(pairs: object) -> dict[str, int]:
    if not isinstance(pairs, list):
        return {}
    found: dict[str, int] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str) or not is_count(pair[1], COUNTER_END):
            raise UnreadableReport("its report is not what ncu writes: a count that is none")
        found[pair[0][:NAME_CHARACTERS]] = pair[1]
    return found


def join(found: Sequence[Launch], kernels: Sequence[KernelBuild]) -> tuple[tuple[KernelProof, ...], tuple[str, ...]]:
    """Return executed counts per kernel (mangled name), and the opcodes for which bookkeeping could not be told apart.

    ncu counts by the name of an instruction, which bookkeeping shares with multiplications (protocol section 6). The build's
    census tells them apart: where all of a kernel's instructions of that name are bookkeeping, the count gets the prefix; where
    some are, it stays as it is and is named. Kernels that the build does not hold are counted under ``?``, as in ``counts.join``.
    """
    census = {kernel.mangled: kernel.opcodes for kernel in kernels}
    everywhere = Counter(opcode for opcodes in census.values() for opcode in opcodes)
    warps: dict[str, Counter[str]] = {}
    threads: dict[str, Counter[str]] = {}
    times = Counter(launch.name for launch in found)
    mixed: dict[str, None] = {}
    for launch in found:
        opcodes = census.get(launch.name)
        for counted, into in ((launch.warps, warps), (launch.threads, threads)):
            for opcode, count in counted.items():
                key = UNKNOWN_OPCODE if opcodes is None else _key(opcode, opcodes, everywhere)
                into.setdefault(launch.name, Counter())[key] += count
                if opcodes is not None and {opcode, BOOKKEEPING + opcode} <= opcodes.keys():
                    mixed[f"{opcode} in {launch.name}"] = None
    return tuple(_proof(name, times[name], warps[name], threads[name]) for name in warps), tuple(mixed)


def _key(opcode: str, kernel: Mapping[str, int], everywhere: Mapping[str, int]) -> str:
    """Return the census's key of an opcode: that of the kernel, or of the functions that it calls by their address."""
    marked = BOOKKEEPING + opcode
    for census in (kernel, everywhere):
        if opcode in census:
            return opcode
        if marked in census:
            return marked
    return opcode


def _proof(name: str, times: int, warps: Mapping[str, int], threads: Mapping[str, int]) -> KernelProof:
    executed = {
        opcode: ExecutedCount(warp=warps.get(opcode, 0), thread_true=threads.get(opcode, 0))
        for opcode in sorted(warps.keys() | threads.keys())
        if warps.get(opcode) or threads.get(opcode)
    }
    return KernelProof(name=name, launches=times, executed=executed)
