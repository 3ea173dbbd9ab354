"""What a child on a GPU is given and kept from, under a tool and without one, tried on real processes that need no GPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.core.settings import Settings
from ptxbench.evaluate.cupti import LIBRARY
from ptxbench.evaluate.cupti import locate as locate_cupti
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.inside import landlock, seccomp
from ptxbench.evaluate.sandbox.launch import DeviceSetup, Program, Tool, device_nodes, setup_message, start
from ptxbench.schema import Language, Limits, RunFailure

WRITES = """
def run():
    open("SCRATCH/new.txt", "w").write("new")
    for path, mode in (("OTHER/own.txt", "a"), ("OTHER/own.txt", "r+"), ("OTHER/new.txt", "w"), ("OTHER/own.txt", "r")):
        try:
            open(path, mode)
        except PermissionError:
            continue
        raise RuntimeError(f"{path} by {mode}")
"""


def test_under_a_tool_only_the_filter_holds(children):
    with Child(children.program(children.FORKS), None, Limits(), device=children.EMPTY, tool=children.SHELL) as child:
        held = child.protections
        assert held["limits"] is True and held["no_new_privs"] is True and held["user"] is None
        assert held["landlock"] == landlock.abi()
        assert held["seccomp"] is (os.uname().machine in seccomp.AUDIT_ARCH)
        child.load()
        answer = child.call([0], 10)
        if held["seccomp"]:
            assert isinstance(answer, RunFailure) and "PermissionError" in answer.text


def test_a_tools_child_writes_below_the_tools_folder_and_nowhere_else(children, tmp_path):
    """It has the judge's user: what that may write, a candidate under a checker might."""
    scratch, other = tmp_path / "scratch", tmp_path / "other"
    scratch.mkdir()
    other.mkdir()
    (other / "own.txt").write_text("as it was")
    text = WRITES.replace("SCRATCH", str(scratch)).replace("OTHER", str(other))
    tool = Tool(children.SHELL.argv, {"TMPDIR": str(scratch)})
    with Child(children.program(text), None, Limits(), device=children.EMPTY, tool=tool) as child:
        if not child.protections["landlock"]:
            pytest.skip("this kernel has no Landlock")
        child.load()
        answer = child.call([0], 10)
        assert isinstance(answer, Answer), answer
    assert (scratch / "new.txt").read_text() == "new" and (other / "own.txt").read_text() == "as it was"
    assert [one.name for one in other.iterdir()] == ["own.txt"]


PEEKS = """
import os
def run():
    for process in (JUDGE, os.getppid()):
        for name in ("environ", "mem", "maps", "cwd/.", "root/."):
            try:
                os.close(os.open(f"/proc/{process}/{name}", os.O_RDONLY))
            except PermissionError:
                continue
            raise RuntimeError(name)
        try:
            os.kill(process, 0)
        except PermissionError:
            continue
        raise RuntimeError("signal")
"""


def test_a_tools_child_reaches_neither_environment_nor_memory_of_others(children, tmp_path):
    """It has the judge's user, and so have processes that hold keys."""
    tmp_path.chmod(0o777)
    tool = Tool(children.SHELL.argv, {"TMPDIR": str(tmp_path)})
    text = PEEKS.replace("JUDGE", str(os.getpid()))
    with Child(children.program(text), None, Limits(), device=children.EMPTY, tool=tool) as child:
        if not (child.protections["landlock"] and child.protections["seccomp"]):
            pytest.skip("this kernel has no Landlock, or no filter")
        child.load()
        answer = child.call([0], 10)
        assert isinstance(answer, Answer), answer


def test_a_child_that_cannot_be_set_up_says_why(children):
    short = Tool(("/bin/sh", "-c", "sleep 600", "sh"))
    with pytest.raises(JudgeError, match=r"not ready within 0\.2 s"):
        Child(None, None, Limits(), device=children.NO_DEVICE, tool=short, start_s=0.2)
    missing = Tool(("/nowhere/at-all",))
    with pytest.raises(JudgeError, match="cannot start"):
        Child(None, None, Limits(), device=children.NO_DEVICE, tool=missing)


def test_a_machine_without_a_driver_is_told_in_one_line(children, tmp_path):
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("this machine has an NVIDIA driver")
    cuda = Program(Language.CUDA, "run", b"")
    with pytest.raises(JudgeError, match=r"libcuda\.so\.1"):
        Child(cuda, None, Limits(), device=children.NO_DEVICE)


def test_environment_of_a_gpu_child_holds_the_device_and_no_secrets(monkeypatch):
    monkeypatch.setenv("PTXBENCH_TEST_SECRET", "secret")
    monkeypatch.setenv("CUDA_INJECTION64_PATH", "/tmp/injected.so")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    prints = Tool(("/usr/bin/env", "ADDED=1", "/bin/sh", "-c", "env", "sh"), {"FROM_TOOL": "1"})
    for uuid, visible in (("GPU-1234", "GPU-1234"), (None, "3")):
        device = DeviceSetup(uuid, (), [], 0, False, None, ())
        process = start(0, [], device, prints)
        out, _ = process.communicate(timeout=20)
        seen = dict(line.split("=", 1) for line in out.decode().splitlines())
        assert seen.pop("CUDA_VISIBLE_DEVICES") == visible
        assert seen.pop("FROM_TOOL") == seen.pop("ADDED") == "1"
        known = {
            "LC_ALL",
            "OPENBLAS_NUM_THREADS",
            "OMP_NUM_THREADS",
            "LD_LIBRARY_PATH",
            "CUDA_CACHE_DISABLE",
            "CUDA_MODULE_LOADING",
        }
        assert set(seen) - {"PWD", "SHLVL", "_"} <= known


def test_the_first_message_of_a_gpu_child_says_all_that_it_gets(tmp_path):
    from ptxbench.evaluate.sandbox.launch import LentBuffer

    buffers = (LentBuffer(7, 2 << 20, False), LentBuffer(8, 4 << 20, True))
    slot = [{"buffer": 0, "offset": 4096, "shape": [2, 3], "dtype": "bfloat16"}, {"value": 2.5}]
    cupti = str(tmp_path / "lib" / LIBRARY)
    device = DeviceSetup("GPU-1", buffers, [slot], 1 << 20, True, cupti, ("/usr/lib/libcudart.so.13",))
    message = setup_message(None, None, Limits(), (), -1, device, None, 9)
    json.dumps(message)
    assert message["sandbox"] == "full" and message["arguments"] == [slot] and message["libraries"] == list(device.libraries)
    given = message["device"]
    assert given["buffers"] == [{"fd": 7, "bytes": 2 << 20, "writable": False}, {"fd": 8, "bytes": 4 << 20, "writable": True}]
    assert (given["exact"], given["flush_bytes"], given["results"], given["poison"]) == (True, 1 << 20, 9, 255)
    assert given["cupti"] == cupti
    assert str(tmp_path / "lib") in message["readable"]
    assert setup_message(None, None, Limits(), (), -1, device, Tool(("x",)), 9)["sandbox"] == "tool"
    bare = setup_message(None, None, Limits(), (), -1, device, Tool(("x",), poisoned=False), 9)
    assert bare["device"]["poison"] is None


def test_device_files_are_those_that_all_gpus_share_and_its_own():
    nodes = device_nodes("GPU-of-another-machine")
    assert "/dev/nvidiactl" in nodes and "/dev/nvidia-uvm" in nodes
    assert all(node.startswith("/dev/") for node in nodes)


def test_cupti_is_found_without_importing_it():
    before = set(sys.modules)
    found = locate_cupti(Settings())
    assert not {name.partition(".")[0] for name in set(sys.modules) - before} & {"cupti", "nvidia", "torch", "cuda"}
    assert found is None or Path(found).is_file()


def test_the_cupti_that_is_set_is_taken_at_its_word(tmp_path):
    assert locate_cupti(Settings(cupti=tmp_path / "none.so")) == str(tmp_path / "none.so")


EARLY_THREAD = """
import json, os, threading
from ptxbench.evaluate.sandbox.inside import protect
from ptxbench.evaluate.sandbox.inside.libc import libc

setup = json.loads(os.environ["SETUP"]) | {"judge": os.getppid()}
protections, sealed, found = protect.Protections(setup), threading.Event(), {}

def read():
    try:
        return open(os.environ["SECRET"]).read()
    except OSError as error:
        return type(error).__name__

def early():
    sealed.wait()
    found["early"] = read()

protections.restrict()
found["dumpable"] = libc.prctl(3, 0, 0, 0, 0)
thread = threading.Thread(target=early)
thread.start()
protections.seal()
found["hidden"] = libc.prctl(3, 0, 0, 0, 0)
found["late"] = read()
found["allowed"] = os.listdir(setup["readable"][0])
sealed.set()
thread.join()
print(json.dumps(found))
"""
"""What a candidate's process does around the start of the driver, whose threads Landlock does not bind."""


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: there is nothing to give up")
def test_threads_of_the_driver_read_no_more_than_any_user(tmp_path):
    secret, own = tmp_path / "secret", tmp_path / "own"
    secret.write_text("secret")
    secret.chmod(0o600)
    own.mkdir(mode=0o700)
    (own / "module.py").touch()
    setup = {
        "device": {"nodes": []}, "sandbox": "full", "memory_bytes": 4 << 30, "file_bytes": 1 << 20, "cpu_seconds": 60, "cpus": [],
        "readable": [str(own)], "scratch": [], "processes": 64,
    }  # fmt: skip
    environment = os.environ | {"SETUP": json.dumps(setup), "SECRET": str(secret)}
    done = subprocess.run([sys.executable, "-c", EARLY_THREAD], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["dumpable"] == 1, "the driver has to reach its own files below /proc"
    assert found["hidden"] == 0, "and nobody else of its user from then on"
    assert (found["early"], found["late"]) == ("PermissionError", "PermissionError")
    assert found["allowed"] == ["module.py"], "what the interpreter needs is read all the same"


FULL_DRIVER = """
int cuInit(unsigned flags) { (void)flags; return 2; }
int cuGetErrorName(int code, const char **name) { (void)code; *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0; }
int cuGetErrorString(int code, const char **text) { (void)code; *text = "out of memory"; return 0; }
"""


def test_a_device_that_has_no_room_for_the_child_is_full_and_no_fault_of_the_judge(children, tmp_path, monkeypatch):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "driver.c").write_text(FULL_DRIVER)
    tmp_path.chmod(0o755)
    built = [compiler, "-shared", "-fPIC", "-o", str(tmp_path / "libcuda.so.1"), str(tmp_path / "driver.c")]
    subprocess.run(built, check=True, timeout=60)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(DeviceMemoryFull, match="CUDA_ERROR_OUT_OF_MEMORY") as caught:
        Child(Program(Language.CUDA, "run", b""), None, Limits(), device=children.NO_DEVICE)
    assert caught.value.next_step
