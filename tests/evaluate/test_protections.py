"""Protections one by one: each does its part alone, and where a machine lacks one, `doctor` and every record say so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.inside import landlock, seccomp
from ptxbench.evaluate.sandbox.protections import protections, summarise, weak_spots
from ptxbench.schema import Limits

WHOLE: dict[str, Any] = {"limits": True, "no_new_privs": True, "user": 1 << 30, "root": True, "landlock": 6, "seccomp": True}


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({}, []),
        ({"root": False, "user": None}, []),
        ({"limits": False}, ["resource limits"]),
        ({"no_new_privs": False}, ["no new privileges"]),
        ({"user": None}, ["no root rights"]),
        ({"seccomp": False}, ["seccomp"]),
        ({"landlock": 0}, ["landlock"]),
        ({"landlock": 0, "seccomp": False}, ["seccomp", "landlock"]),
    ],
)
def test_a_protection_that_is_missing_is_named(change: dict[str, Any], missing: list[str]) -> None:
    report = WHOLE | change
    assert [name for name, holds in summarise(report).items() if not holds] == missing
    flags = weak_spots(report)
    assert [flag.code for flag in flags] == ["weak_sandbox"] * bool(missing)
    assert all(", ".join(missing) in flag.text for flag in flags)


def test_a_record_is_flagged_exactly_where_this_machine_lacks_something(judge: Callable[..., Findings]) -> None:
    flagged = "weak_sandbox" in {flag.code for flag in judge("honest").flags}
    assert flagged is not all(protections().values())


WITHOUT = """
import json, os, signal, sys, threading
from pathlib import Path
from ptxbench.evaluate import EvaluateOptions
from ptxbench.evaluate.judge.request import Request
from ptxbench.evaluate.sandbox import protections
from ptxbench.evaluate.sandbox.inside import libc, seccomp
from ptxbench.evaluate.worker import Worker
from ptxbench.schema import Language
from ptxbench.suite import load

number, libraries = int(sys.argv[1]), sys.argv[2:]
libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
seccomp.install([(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)])
worker = Worker()
options = EvaluateOptions(stages=("compare",), run_s=1.0)
common = dict(task=load().task("cpu_softmax_n1024"), options=options, language=Language.CPP, symbol="run")
found = [
    worker.evaluate(Request(**common, entry_file="k.cpp", library=library, sources=(), cpus=()), threading.Event())
    for library in libraries
]

def children(process):
    return [int(pid) for path in Path(f"/proc/{process}/task").glob("*/children") for pid in path.read_text().split()]

left = len(children(worker.pid))
worker.close()
orphans = children("self")
for pid in orphans:
    os.kill(pid, signal.SIGKILL)
print(json.dumps({
    "left": left,
    "orphans": len(orphans),
    "compared": [one.compared for one in found],
    "flags": [{flag.code: flag.text for flag in one.flags} for one in found],
    "doctor": protections(),
}))
"""
"""A process, and all below it, to which the kernel says that it does not know one system call, as an older one would.

What nobody below it takes care of becomes its own child.
"""


@pytest.mark.parametrize(("call", "missing"), [("landlock_create_ruleset", "landlock"), ("seccomp", "seccomp")])
def test_a_kernel_that_lacks_a_protection_guards_less_and_every_record_says_so(
    call: str, missing: str, compiled: Callable[[str], Path]
) -> None:
    """Without seccomp a candidate may start processes: they are ended afterwards."""
    machine = os.uname().machine
    if machine not in seccomp.AUDIT_ARCH:
        pytest.skip("no numbers of system calls for this machine")
    numbers = seccomp.load_table()["numbers"][machine]
    assert isinstance(numbers, dict)
    libraries = [str(compiled(name)) for name in ("honest", "fork_survivor")]
    command = [sys.executable, "-c", WITHOUT, str(numbers[call]), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["compared"][0] is True and (found["left"], found["orphans"]) == (0, 0)
    assert found["doctor"][missing] is False
    assert all(missing in flags["weak_sandbox"] for flags in found["flags"])


ALONE = """
import ctypes, json, os, socket, sys
from ptxbench.evaluate.sandbox.inside import landlock
from ptxbench.evaluate.sandbox.inside.libc import PR_SET_NO_NEW_PRIVS, prctl

folder, judge = sys.argv[1], os.getppid()
listening = socket.socket(socket.AF_UNIX)
listening.bind("\\0ptxbench-test-" + str(os.getpid()))
listening.listen()
own = socket.socket()
own.bind(("127.0.0.1", 0))
own.listen()
prctl(PR_SET_NO_NEW_PRIVS, 1)
tries = {
    "reads": lambda: open(folder + "/file").close(),
    "lists": lambda: os.listdir(folder),
    "writes": lambda: open(folder + "/file", "a").close(),
    "makes": lambda: open(folder + "/new", "w").close(),
    "removes": lambda: os.unlink(folder + "/file"),
    "renames": lambda: os.rename(folder + "/file", folder + "/moved"),
    "truncates": lambda: os.truncate(folder + "/file", 0),
    "runs": lambda: os.posix_spawn(folder + "/program", ["program"], {}),
    "sees others": lambda: open(f"/proc/{judge}/environ").close(),
    "connects": lambda: socket.create_connection(own.getsockname()).close(),
    "listens": lambda: socket.socket().bind(("127.0.0.1", 0)),
    "signals": lambda: os.kill(judge, 0),
    "reads the system's": lambda: os.listdir("/usr"),
    "reads its own": lambda: open("/proc/self/status").close(),
    "writes nothing": lambda: open("/dev/null", "w").close(),
}

def open_doors():
    found = []
    for name, action in tries.items():
        try:
            action()
        except PermissionError:
            continue
        found.append(name)
    return found

version = landlock.confine(())
print(json.dumps({"version": version, "open": open_doors()}))
"""
"""A process that only Landlock binds: no filter of system calls, and whatever user this is."""


def test_landlock_alone_keeps_files_network_and_signals_out_of_reach(tmp_path: Path) -> None:
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    (tmp_path / "file").write_text("untouched")
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    done = subprocess.run([sys.executable, "-c", ALONE, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    later = {"connects": 4, "listens": 4, "signals": 6}  # the version that each came with
    expected = [name for name, version in later.items() if found["version"] < version]
    assert found["open"] == [*expected, "reads the system's", "reads its own", "writes nothing"]
    assert (tmp_path / "file").read_text() == "untouched"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "program"]


def test_doctor_asks_the_very_child_that_candidates_get() -> None:
    with Child(None, None, Limits()) as child:
        assert summarise(child.protections) == protections()


GROUPS = """
import json, os, sys
sys.path[:0] = [{tests!r}]
from gpu_children import EMPTY, program
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.schema import Limits

os.setgroups([0, 4242])
with Child(program("import os\\ndef run():\\n    raise ValueError(os.getgroups())\\n"), None, Limits(), device=EMPTY) as child:
    child.load()
    print(child.call([0], 10).text.splitlines()[0])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: there is nothing to give up")
def test_the_judges_groups_are_given_up_with_its_user() -> None:
    script = GROUPS.format(tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ValueError: []\n", done.stderr
