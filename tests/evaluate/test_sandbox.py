"""The child's process: what it has, what it lacks, and what is left of it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ptxbench
from ptxbench.evaluate.sandbox import protections
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.inside import limits, seccomp
from ptxbench.evaluate.sandbox.launch import Program
from ptxbench.evaluate.sandbox.staging import Staging, lay_out
from ptxbench.schema import Language, Limits, RunFailure
from ptxbench.suite.dtypes import NUMPY_TYPES

PROBE = """
import ctypes, json, os, resource

def run(x, y):
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = {name: resource.getrlimit(getattr(resource, name)) for name in names}
    print(json.dumps({
        "status": {name: value.strip() for name, value in status.items()},
        "limits": limits,
        "environment": dict(os.environ),
        "group": [os.getpid(), os.getpgid(0), os.getsid(0)],
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "cpus": sorted(os.sched_getaffinity(0)),
        "dumpable": ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
        "victim": open("/proc/self/oom_score_adj").read().strip(),
    }))
    raise SystemExit
"""


def program(text: str) -> Program:
    return Program(Language.PYTHON, "run", json.dumps(["probe.py", {"probe.py": text}]).encode())


def staging() -> Staging:
    import numpy as np

    one = np.zeros(8, NUMPY_TYPES["float32"])
    return Staging(lay_out({"X": one}, {"Y": one}, {"X": "float32", "Y": "float32"}, 1), 0)


def test_protections_are_found_out_by_starting_a_child() -> None:
    found = protections()
    assert set(found) == {"resource limits", "no new privileges", "no root rights", "seccomp", "landlock"}
    assert found["resource limits"] and found["no new privileges"]
    assert found["seccomp"] is (os.uname().machine in seccomp.AUDIT_ARCH)


def test_child_has_limits_a_session_no_rights_and_an_empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXBENCH_TEST_SECRET", "secret")
    limits = Limits(child_bytes=3 << 30, file_bytes=1 << 20, processes=16)
    cpu = max(os.sched_getaffinity(0))
    with staging() as memory, Child(program(PROBE), memory, limits, [cpu]) as child:
        assert isinstance(child.load(), Answer)
        failure = child.call([0], 10)
    assert isinstance(failure, RunFailure)
    seen = json.loads(failure.output)
    assert seen["limits"]["RLIMIT_AS"] == [3 << 30] * 2
    assert seen["limits"]["RLIMIT_FSIZE"] == [1 << 20] * 2
    assert seen["limits"]["RLIMIT_CORE"] == [0, 0]
    assert seen["limits"]["RLIMIT_CPU"][0] > 0
    assert seen["limits"]["RLIMIT_NOFILE"] == [256, 256]
    assert seen["limits"]["RLIMIT_STACK"] == [8 << 20] * 2
    assert seen["limits"]["RLIMIT_MSGQUEUE"] == [0, 0]
    assert seen["victim"] == "1000", "the first to go when memory runs out"
    assert seen["dumpable"] == 0, "its memory is closed to other processes of its user"
    assert seen["status"]["NoNewPrivs"] == "1"
    assert seen["status"]["Seccomp"] == "2"
    assert seen["group"] == [child.pid] * 3
    assert seen["cpus"] == [cpu]
    assert set(seen["environment"]) <= {"LC_ALL", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LD_LIBRARY_PATH"}
    assert len(seen["descriptors"]) <= 8
    if os.geteuid() == 0 and child.protections["user"] is not None:
        assert seen["status"]["Uid"].split() == [str(child.protections["user"])] * 4
        assert seen["status"]["Gid"].split() == [str(child.protections["user"])] * 4
        assert seen["status"]["Groups"] == ""
        assert seen["limits"]["RLIMIT_NPROC"] == [16, 16]
        assert seen["status"]["CapPrm"] == seen["status"]["CapEff"]
        assert int(seen["status"]["CapInh"], 16) == int(seen["status"]["CapAmb"], 16) == 0
        assert int(seen["status"]["CapEff"], 16) == 1 << 2, "only reading files whatever their mode, which Landlock confines"


def test_closing_kills_and_reaps_the_whole_group() -> None:
    with staging() as memory, Child(program("def run(x, y):\n    while True: pass\n"), memory, Limits()) as child:
        child.load()
        assert isinstance(child.call([0], 0.2), RunFailure)
    assert not Path(f"/proc/{child.pid}").exists()


def test_failure_stays_the_failure() -> None:
    with staging() as memory, Child(program("def run(x, y):\n    raise ValueError('no')\n"), memory, Limits()) as child:
        child.load()
        first = child.call([0], 5)
        assert isinstance(first, RunFailure)
        assert child.call([0], 5) is first
        assert child.ping(5) is first


def test_children_leave_no_descriptors() -> None:
    def run_one() -> None:
        with staging() as memory, Child(program("def run(x, y):\n    y[...] = x\n"), memory, Limits()) as child:
            child.load()
            memory.write(0, {"X": memory.outputs(0)["Y"]})
            assert isinstance(child.call([0], 5), Answer)

    run_one()
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run_one()
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_works_from_a_checkout_that_only_its_owner_may_read(tmp_path: Path, compiled: Callable[[str], Path]) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    shutil.copytree(Path(ptxbench.__file__).parent, folder / "src" / "ptxbench")
    shutil.copy(compiled("honest"), folder / "honest.so")
    shutil.copy(Path(__file__).parent / "cheats" / "py_honest.py", folder / "py_honest.py")
    script = folder / "script.py"
    script.write_text(
        """
import sys, threading
from pathlib import Path
import ptxbench
from ptxbench.evaluate.judge.request import Request
from ptxbench.evaluate import EvaluateOptions
from ptxbench.evaluate.worker import Worker
from ptxbench.schema import Language, Source
from ptxbench.suite import load

here = Path(sys.argv[1])
assert Path(ptxbench.__file__).is_relative_to(here)
common = dict(task=load().task("cpu_softmax_n1024"), options=EvaluateOptions(stages=("compare",)), symbol="run", cpus=())
source = Source(path="k.py", content=(here / "py_honest.py").read_text())
worker = Worker()
for parts in (
    dict(language=Language.CPP, entry_file="k.cpp", library=str(here / "honest.so"), sources=()),
    dict(language=Language.PYTHON, entry_file="k.py", library=None, sources=(source,)),
):
    findings = worker.evaluate(Request(**common, **parts), threading.Event())
    print(findings.compared, findings.failure, findings.broken)
worker.close()
"""
    )
    paths = [str(folder / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, str(script), str(folder)], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["True None ()"] * 2, done.stderr


def test_filter_is_empty_for_a_machine_that_nobody_tried() -> None:
    assert seccomp.program("riscv64", 1, refuse_write_opens=True) == []


@pytest.mark.parametrize("machine", sorted(seccomp.AUDIT_ARCH))
def test_filter_jumps_only_forward_inside_itself_and_ends_with_a_verdict(machine: str) -> None:
    steps = seccomp.program(machine, 1234, refuse_write_opens=True)
    assert len(steps) < 4096, "the kernel's limit"
    for place, (code, yes, no, _) in enumerate(steps):
        assert 0 <= yes < 256 and 0 <= no < 256
        if code & 0x07 == 0x05:
            assert place + 1 + max(yes, no) < len(steps)
    assert steps[-1][0] == 0x06


def test_processor_time_is_seen_from_outside_and_a_sleep_is_none() -> None:
    works = "import time\ndef run(x, y):\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n"
    sleeps = "import time\ndef run(x, y):\n    time.sleep(0.2)\n"
    seen = []
    for text in (works, sleeps):
        with staging() as memory, Child(program(text), memory, Limits()) as child:
            child.load()
            answer = child.call([0], 20)
            assert isinstance(answer, Answer)
            assert answer.cpu_ns is not None
            assert answer.wall_ns > 0.19e9
            seen.append(answer.cpu_ns)
    assert seen[0] > 0.19e9
    assert seen[1] < 0.1e9


def test_a_child_that_reads_no_questions_does_not_hold_the_judge() -> None:
    with staging() as memory, Child(program("def run(x, y): pass\n"), memory, Limits()) as child:
        os.kill(child.pid, signal.SIGSTOP)
        while child._send({"do": "ping", "token": "x" * 1000}):
            pass
        assert isinstance(child.ping(0.1), RunFailure)


def decide(steps: list[seccomp.Instruction], arch: int, number: int, *arguments: int) -> int:
    """Run a filter as the kernel does (classic BPF on ``struct seccomp_data``) and return its verdict."""
    data = struct.pack("<iIQ6Q", number, arch, 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    place, loaded = 0, 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return value
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            place += yes if holds else no


ALLOWED, REFUSED, MISSING = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS


@pytest.mark.parametrize("machine", sorted(seccomp.AUDIT_ARCH))
def test_filter_decides_by_number_and_arguments_on_every_machine(machine: str) -> None:
    arch, me, judge = seccomp.AUDIT_ARCH[machine], 1234, 1233
    steps = seccomp.program(machine, me, refuse_write_opens=True)
    numbers = seccomp.load_table()["numbers"][machine]
    assert isinstance(numbers, dict)

    def verdict(name: str, *arguments: int) -> int:
        return decide(steps, arch, numbers[name], *arguments)

    for names in seccomp.load_table()["refused"].values():
        assert {name: verdict(name) for name in names if name in numbers} == dict.fromkeys(set(names) & set(numbers), REFUSED)
    assert verdict("kill", me, 9) == verdict("tgkill", me, me, 6) == ALLOWED
    assert (
        verdict("kill", judge, 9)
        == verdict("kill", 0, 9)
        == verdict("kill", 2**64 - 1, 9)
        == verdict("tgkill", judge, judge, 9)
        == REFUSED
    )
    assert verdict("clone", 0x3D0F00) == ALLOWED
    assert verdict("clone", 17) == REFUSED
    assert verdict("clone3") == verdict("openat2") == MISSING
    assert verdict("prlimit64", 0, 7, 0, 1) == verdict("prlimit64", me, 7, 0, 1) == ALLOWED
    for arguments in ((judge, 7, 0, 1), (0, 7, 1, 0), (0, 7, 1 << 32, 0)):
        assert verdict("prlimit64", *arguments) == REFUSED
    for name, place, options in (
        ("prctl", 0, seccomp.REFUSED_PRCTL),
        ("fcntl", 1, seccomp.REFUSED_FCNTL),
        ("ioctl", 1, seccomp.REFUSED_IOCTL),
    ):
        assert {verdict(name, *[0] * place, option) for option in options} == {REFUSED}
    assert verdict("prctl", 15) == verdict("fcntl", 1, 3) == verdict("ioctl", 1, 0x5401) == ALLOWED
    assert verdict("openat", 0, 0, os.O_RDONLY | os.O_CLOEXEC) == ALLOWED
    assert verdict("openat", 0, 0, os.O_RDWR) == verdict("openat", 0, 0, os.O_CREAT) == REFUSED
    assert decide(steps, arch, 463) == decide(steps, arch, 0x40000001) == decide(steps, arch, -1) == MISSING
    assert decide(steps, 0x40000003, 20) == 0x80000000, "another ABI ends the process"


FORKS = """
import ctypes, os, signal, sys
exec(sys.stdin.read())
if os.geteuid() == 0:
    user = (1 << 30) + os.getpid()
    os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # its files below /proc are its own again
bound_processes(3)
children = []
try:
    while len(children) < 50:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
except BlockingIOError:
    pass
finally:
    print(len(children))
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
"""


def test_who_may_start_processes_and_shares_its_user_gets_a_few_beside_those_that_run() -> None:
    """Root is never bounded, so the test becomes somebody; the rule is for a judge that is not root."""
    source = Path(limits.__file__).read_text(encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", FORKS], input=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 3
