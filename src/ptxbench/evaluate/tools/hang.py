"""Where a kernel hangs: cuda-gdb attached to a process whose call does not return, in batch mode and bounded."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from ptxbench.core.errors import ToolMissing
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools import locate
from ptxbench.evaluate.tools.under import scratch_folder
from ptxbench.toolchain.paths import spelled_out

SECONDS = 15.0
MOST_PLACES = 5
"""Source lines that a text names: those where most threads are."""
_LIMITS = ProcessLimits(wall_seconds=SECONDS, cpu_seconds=60, output_bytes=2 << 20)
"""No bound on the address space: the debugger reserves as much of it as the driver does."""

_INDEX = r"\(\d+,\d+,\d+\)"
_KERNEL = re.compile(
    rf"[* ] +(?P<number>\d+) +\S+ +\d+ +\d+ +Active +0x[0-9a-f]+ +(?P<grid>{_INDEX}) +(?P<block>{_INDEX}) +(?P<name>\S.*)"
)
_OWNER = re.compile(r"Kernel (?P<number>\d+)")
_THREADS = re.compile(rf"[* ](?: +{_INDEX}){{4}} +(?P<count>\d+) +0x[0-9a-f]+ +(?P<file>\S+) +(?P<line>\d+) *")


def inspect_hang(pid: int, settings: Settings | None = None, temporary: Path | None = None) -> str | None:
    """Say which kernels run in a process and at which source lines their threads are; None when that cannot be found out.

    For the moment between a time-out and the end of the process: it is stopped while it is looked at, for half a second as a rule
    and ``SECONDS`` at most. Not for one in the whole sandbox, where the driver cannot start the helper that a debugger needs.
    ``temporary`` is the process's TMPDIR, None for one that has none: debugger and driver meet in that folder (CUDA-GDB manual,
    "Temporary Directory"), and leave something in it.
    """
    try:
        program = locate.cuda_gdb(settings or Settings())
    except ToolMissing:
        return None
    with scratch_folder() as folder:
        env = {"PATH": locate.SYSTEM_PATH, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        if temporary is not None:
            env["TMPDIR"] = str(temporary)
        done = run_tool(_command(program, pid), limits=_LIMITS, env=env)
    return describe(done.stdout) if not done.timed_out else None


def _command(program: Path, pid: int) -> list[str]:
    """Return the debugger's command. Nothing that a binary of the candidate's asks a debugger to load is loaded."""
    before = ("set auto-load off", "set auto-solib-add off", "set debuginfod enabled off", "set confirm off", "set width 0")
    after = ("info cuda kernels", "info cuda threads", "detach")
    command = [str(program), "-nx", "-batch"]
    for text in before:
        command += ["-iex", text]
    command += ["-p", str(pid)]
    for text in after:
        command += ["-ex", text]
    return command


def describe(printed: str) -> str | None:
    """Return in one line what the debugger printed about kernels and threads, None when it says nothing of any kernel.

    Read from text, since cuda-gdb has no other form; it is for people, and nothing is decided by it.
    """
    kernels: dict[str, str] = {}
    places: dict[str, Counter[str]] = {}
    owner = ""
    for line in printed.splitlines():
        if found := _KERNEL.fullmatch(line):
            kernels[found["number"]] = f"{found['name'].strip()[:200]} <<<{found['grid']}, {found['block']}>>>"
        elif found := _OWNER.fullmatch(line):
            owner = found["number"]
        elif found := _THREADS.fullmatch(line):
            places.setdefault(owner, Counter())[f"{found['file'][:200]}:{found['line']}"] += int(found["count"])
    if not kernels:
        return None
    return spelled_out("; ".join(_said(name, places.get(number, Counter())) for number, name in kernels.items()))


def _said(kernel: str, places: Counter[str]) -> str:
    if not places:
        return f"{kernel} is running"
    named = [f"{count} threads at {place}" for place, count in places.most_common(MOST_PLACES)]
    left = sum(places.values()) - sum(count for _, count in places.most_common(MOST_PLACES))
    return f"{kernel} is running: {', '.join(named)}" + (f", {left} elsewhere" if left else "")
