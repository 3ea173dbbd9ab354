"""Run nvcc's plan with its device half beside its host half, within one run's limits, and tell it as nvcc would have."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from ptxbench.core.atomic import storage_error
from ptxbench.core.errors import Cancelled, InfrastructureError
from ptxbench.core.process import Completed, ProcessLimits, run_tool
from ptxbench.toolchain.plan import STEPS, Plan

_DEVICE_TEXT, _DEVICE_CODE = ("device_preprocess", "cicc"), ("ptxas", "fatbinary")
_ASSEMBLER = Path(__file__).with_name("host_assembler.sh")
_WRAPPER = """-wrapper '/bin/sh,-c,. "$PTXBENCH_ASSEMBLER",sh'"""
"""Has g++ run all that it runs by the script. It takes the words apart at commas, so that the script's path is not one of them."""
_TOOLS = dict.fromkeys(STEPS, "gcc") | {"front": "cudafe++", "cicc": "cicc", "ptxas": "ptxas", "fatbinary": "fatbinary"}


_LATE_IMAGE = """\
#include "fatbinary_section.h"
asm(".section .nv_fatbin, \\"a\\"\\n.align 8\\nfatbinData:\\n.incbin \\"{image}\\"\\n.balign 8\\n.text\\n");
extern "C" {{
extern const unsigned long long fatbinData[];
static const __fatBinC_Wrapper_t __fatDeviceText __attribute__ ((aligned (8))) __attribute__ ((section (".nvFatBinSegment")))=
\t{{ 0x466243b1, 1, fatbinData, 0 }};
}}
"""
"""What fatbinary would write (``X.fatbin.c``), but that the device code is the assembler's to read, after all of the compiler's
work."""
_GCC = re.compile(r'("[^"]*"/)?\S*g\+\+(-\d+)? ')
"""A host compiler that takes ``-wrapper``, at the start of its command."""


class _Stop(threading.Event):
    """Set by us, or by whoever waits for the build."""

    def __init__(self, outer: threading.Event | None) -> None:
        super().__init__()
        self._outer = outer

    def is_set(self) -> bool:
        return super().is_set() or (self._outer is not None and self._outer.is_set())


@dataclass
class _Runner:
    plan: Plan
    folder: Path
    limits: ProcessLimits
    deadline: float
    ended: dict[str, Completed] = field(default_factory=dict)
    commands: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.commands = self.plan.commands

    def command(self, argv: Sequence[str], stop: threading.Event, **env: str) -> Completed:
        limits = replace(self.limits, wall_seconds=max(0.0, self.deadline - time.monotonic()))
        return run_tool(argv, limits=limits, env={**self.plan.env, **env}, cwd=self.folder, cancel=stop)

    def run(self, names: Sequence[str], stop: threading.Event, **env: str) -> bool:
        """Run steps one after the other until one fails; return whether none did."""
        for name in names:
            self.ended[name] = self.command(["/bin/sh", "-c", f"exec {self.commands[name]}"], stop, **env)
            if not self.ended[name].ok:
                return False
        return True


def run_plan(
    plan: Plan,
    folder: Path,
    limits: ProcessLimits,
    cancel: threading.Event | None,
    *,
    parallel: bool,
    on_text: Callable[[], None] | None = None,
    on_device_code: Callable[[], None] | None = None,
    on_library: Callable[[], None] | None = None,
) -> Completed:
    """Run a plan in ``folder`` and return what nvcc would have said and how it would have ended.

    Only when the halves run in parallel, ``on_text`` is called once everything has been preprocessed and the host's front end has
    ended, ``on_device_code`` once the device half has ended well, both while the host compiler goes on, and ``on_library`` once all
    steps have, while ``on_device_code`` may go on. Each is called in a thread of its own.

    Each process has the limits of memory, CPU time and file size, all of them together the limit of real time. Steps that nvcc
    would not have reached are left out of what is told, whatever became of them. ``parallel`` False runs one process at a time.
    Raises ``Cancelled`` when ``cancel`` is set.
    """
    started = time.monotonic()
    runner = _Runner(plan, folder, limits, started + limits.wall_seconds)
    if parallel and _make_pipes(plan):
        _run_halves(runner, cancel, on_text, on_device_code, on_library)
    else:
        stop = _Stop(cancel)
        if runner.run(("host_preprocess", "front", *_DEVICE_TEXT, *_DEVICE_CODE), stop):
            try:
                plan.stub.rename(plan.pipe)
            except OSError as error:
                raise storage_error(error, plan.stub) from error
            runner.run(("host_compile", "link"), stop)
    return _told(runner, time.monotonic() - started)


def _gate(plan: Plan) -> Path:
    """Return the pipe through which the host's assembler hears that the device code is there."""
    return plan.output / f"{plan.stem}.gate"


def _late_image(plan: Plan) -> Path:
    return plan.output / f"{plan.stem}.late.c"


def _make_pipes(plan: Plan) -> bool:
    """Make the pipes for the stub and for the device code; return whether this file system has pipes."""
    try:
        os.mkfifo(plan.pipe)
        os.mkfifo(_gate(plan))
        # The tools run in the sources' folder.
        _late_image(plan).write_text(_LATE_IMAGE.format(image=f"../{plan.output.name}/{plan.image.name}"), encoding="ascii")
    except OSError:
        return False
    return True


def _run_halves(
    runner: _Runner,
    cancel: threading.Event | None,
    on_text: Callable[[], None] | None,
    on_device_code: Callable[[], None] | None,
    on_library: Callable[[], None] | None,
) -> None:
    """Run both halves at once.

    The host compiler starts when cudafe++ has ended. It reads the headers and waits at the end of its source for the stub, which
    comes through a pipe as soon as cicc has written it. It then optimises while ptxas works; its assembler waits for the device
    code. A host compiler that is not g++ gets the stub when the device code is there. What nvcc would not have reached is stopped.
    Threads: the two halves, the stub's way through its pipe, and who reads the device code beside the linker.
    """
    plan = runner.plan
    given_up = _Stop(cancel)
    front_failed, device_failed, host_ended = _Stop(given_up), _Stop(given_up), _Stop(given_up)
    gcc = _GCC.match(plan.commands["host_compile"])
    if gcc is not None:
        late = f"{gcc[0]}{_WRAPPER} {plan.commands['host_compile'][gcc.end() :]}"
        runner.commands = {**plan.commands, "host_compile": late}
    stub_complete, device_ended = threading.Event(), threading.Event()

    def give(source: Path, pipe: Path, *command: str) -> None:
        # Whoever opens a pipe waits for its reader: another process, which can be stopped.
        script = 'exec "$@" <"$SOURCE" >"$PIPE"'
        runner.command(["/bin/sh", "-c", script, "sh", *command], host_ended, SOURCE=str(source), PIPE=str(pipe))

    def host() -> None:
        linked = False
        try:
            if not runner.run(("host_preprocess", "front"), given_up):
                front_failed.set()
            elif runner.run(
                ("host_compile",), device_failed, PTXBENCH_DEVICE_CODE=str(_gate(plan)), PTXBENCH_ASSEMBLER=str(_ASSEMBLER)
            ):
                # The object holds the device code, so that the other half has ended well.
                linked = runner.run(("link",), given_up)
        finally:
            host_ended.set()
        if linked and on_library is not None:
            on_library()

    def stub() -> None:
        stub_complete.wait()
        if not device_failed.is_set():
            image = f'"{plan.image.name}.c"'
            give(plan.stub, plan.pipe, "sed", f's/^#include {image}$/#include "{_late_image(plan).name}"/' if gcc else "")
            # The host compiler has taken the stub, so that the host's front end has ended.
            if on_text is not None and not host_ended.is_set():
                on_text()

    def device() -> None:
        made = False
        try:
            made = runner.run(_DEVICE_TEXT, front_failed)
            if made and gcc:
                stub_complete.set()
            made = made and runner.run(_DEVICE_CODE, front_failed)
        finally:
            if not made:
                device_failed.set()
            stub_complete.set()
            device_ended.set()
        if made and gcc:
            give(Path(os.devnull), _gate(plan), "echo")

    def device_code() -> None:
        device_ended.wait()
        if on_device_code is not None and not device_failed.is_set() and not host_ended.is_set():
            on_device_code()

    with ThreadPoolExecutor(4) as pool:
        try:
            parts = [pool.submit(part) for part in (host, device, stub, device_code)]
            wait(parts)
        except BaseException:  # Ctrl-C: nobody waits for the steps any more.
            given_up.set()
            raise
    for part in parts:
        error = part.exception()
        if error is not None and not (isinstance(error, Cancelled) and (cancel is None or not cancel.is_set())):
            raise error


def _told(runner: _Runner, seconds: float) -> Completed:
    """Put together what nvcc would have printed (``nvcc -v``), up to the first step that failed."""
    said: list[str] = []
    dropped = 0
    for name in STEPS:
        if name not in runner.ended:
            raise InfrastructureError(f"the compilation's step {name} did not run")
        done = runner.ended[name]
        said.append(f"#$ {runner.plan.shown[name]}\n{done.stdout}{done.stderr}")
        dropped += done.dropped_bytes
        if not done.ok:
            break
    code = done.returncode
    if code < 0 and not done.timed_out:
        said.append(f"nvcc error   : '{_TOOLS[name]}' died due to signal {-code}\n")
        code = 255
    return Completed(code, done.timed_out, "", "".join(said), dropped, seconds)
