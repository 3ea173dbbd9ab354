"""The sandbox of a child whose driver may write a core dump: the candidate is bound as ever, the driver's own threads are not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.inside import landlock, seccomp
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.schema import Limits, RunFailure


@pytest.mark.parametrize(("text", "why"), [("FORKS", "PermissionError"), ("HANDLES", "Operation not permitted")])
def test_where_the_driver_may_write_a_dump_the_candidate_is_bound_as_ever_and_handles_no_signals(children, text, why):
    with Child(
        children.program(getattr(children, text)), None, Limits(), device=children.EMPTY, tool=Tool((), sandbox="dump")
    ) as child:
        held = child.protections
        assert held["limits"] is True and held["no_new_privs"] is True and held["landlock"] == landlock.abi()
        assert held["seccomp"] is (os.uname().machine in seccomp.AUDIT_ARCH)
        assert (held["user"] is not None) is (os.geteuid() == 0)
        child.load()
        answer = child.call([0], 10)
        if held["seccomp"]:
            assert isinstance(answer, RunFailure) and why in answer.text


EARLY_FORK = """
import json, os, threading
from ptxbench.evaluate.sandbox.inside import protect

setup = json.loads(os.environ["SETUP"]) | {"judge": os.getppid()}
protections, sealed, found = protect.Protections(setup), threading.Event(), {}

def fork():
    try:
        child = os.fork()
    except OSError as error:
        return type(error).__name__
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[1]

def early():
    sealed.wait()
    found["early"] = fork()

def late():
    found["late"] = fork()

protections.restrict()
threads = [threading.Thread(target=early)]
threads[0].start()
protections.seal()
sealed.set()
threads.append(threading.Thread(target=late))
threads[1].start()
for thread in threads:
    thread.join()
print(json.dumps(found))
"""
"""What a candidate's process does around the start of the driver, one of whose threads starts the helper that writes a dump."""


@pytest.mark.parametrize(("sandbox", "early"), [("full", "PermissionError"), ("dump", 0)])
def test_where_the_driver_may_write_a_dump_only_its_own_threads_start_processes(sandbox, early):
    if os.uname().machine not in seccomp.AUDIT_ARCH:
        pytest.skip("no filter for this machine")
    setup = {
        "device": {"nodes": []}, "sandbox": sandbox, "memory_bytes": 4 << 30, "file_bytes": 1 << 20, "cpu_seconds": 60, "cpus": [],
        "readable": [], "scratch": [], "processes": 64,
    }  # fmt: skip
    environment = os.environ | {"SETUP": json.dumps(setup)}
    done = subprocess.run([sys.executable, "-c", EARLY_FORK], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"early": early, "late": "PermissionError"}
