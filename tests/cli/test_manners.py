"""How the commands behave between a terminal, a pipe, a full disk and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""

GROUP = ("tasks", "tasks list", "tasks show", "tasks export", "tasks import", "tasks validate")
EXPORTS = ("export", "export mini-swe-agent", "export atif")
COMMANDS = ("", "doctor", "quickstart", *GROUP, "compile", "eval", "run", "report", *EXPORTS, "import", "import published")

INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("ptxbench", run_name="__main__")
"""
"""The command with Ctrl-C as in a terminal, also where the tests run in the background and inherit an ignored SIGINT."""


@pytest.fixture
def environment(tmp_path, build_cache):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PTXBENCH_CACHE_DIR": str(build_cache),
        "PYTHONPATH": IMPORT_PATH,
    }


def ptxbench(*arguments: str, environment: dict[str, str], **options) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "timeout": 250, **options}
    return subprocess.run([sys.executable, "-m", "ptxbench", *arguments], env=environment, **options)


@pytest.mark.parametrize("arguments", [("tasks", "list"), ("tasks", "list", "--json"), ("doctor",)])
def test_a_reader_that_goes_away_changes_nothing(environment, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = ptxbench(*arguments, environment=environment, capture_output=False, stdout=gone, stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stderr == ""


def test_progress_that_nobody_reads_changes_nothing(environment):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = ptxbench("tasks", "show", "nonsense", environment=environment, capture_output=False, stderr=gone)
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("doctor",), ("tasks", "list", "--json")])
def test_an_answer_that_cannot_be_kept_is_an_error(environment, arguments):
    with open("/dev/full", "w") as full:
        done = ptxbench(*arguments, environment=environment, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: stdout cannot be written") and "  next: " in done.stderr


def test_a_terminal_without_unicode_gets_question_marks_and_machines_get_utf8(environment):
    ascii_only = {**environment, "PYTHONIOENCODING": "ascii"}
    done = ptxbench("compile", "é.cu", environment=ascii_only)
    assert done.returncode == 2 and done.stderr.startswith("error: ?.cu: no such file")
    for_machines = ptxbench("compile", "é.cu", "--json", environment=ascii_only, text=False)
    assert json.loads(for_machines.stdout.decode("utf-8"))["message"].startswith("é.cu")


def test_a_variable_that_cannot_be_used_is_named(environment):
    done = ptxbench("doctor", environment={**environment, "PTXBENCH_JOBS": "many"})
    assert done.returncode == 2 and done.stderr.startswith("error: PTXBENCH_JOBS='many'") and "Traceback" not in done.stderr


@pytest.mark.parametrize(("variable", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_those_who_want_it(environment, variable, coloured):
    done = ptxbench("--color", "auto", "doctor", environment={**environment, "NO_COLOR": variable})
    assert "\x1b[" not in done.stdout
    script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    command = [sys.executable, "-c", script, sys.executable, "-m", "ptxbench", "doctor"]
    terminal = subprocess.run(
        command, env={**environment, "NO_COLOR": variable}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert ("\x1b[3" in terminal.stdout) is coloured, terminal.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_explained_in_words_and_not_in_types_of_python(environment, command):
    done = ptxbench(*command.split(), "--help", environment=environment)
    assert done.returncode == 0
    options = done.stdout.partition("\nOptions:")[2]
    assert "--help" in options
    for word in ("<str>", "<path>", "<int", "<float", "list["):
        assert word not in options, options


def test_slow_commands_say_what_they_do_and_keep_stdout_for_the_answer(environment, tmp_path):
    (tmp_path / "kernel.py").write_text("def run(X, Y):\n    Y[:] = X\n")
    done = ptxbench("eval", "kernel.py", "--task", "cpu_softmax_n1024", "--json", environment=environment, cwd=tmp_path)
    assert json.loads(done.stdout)["outcome"] == "wrong_value" and done.returncode == 1
    assert done.stderr == "evaluating kernel.py on cpu_softmax_n1024\n"


def test_a_failure_is_told_once(environment, tmp_path):
    (tmp_path / "kernel.py").write_text("def run(X, Y):\n    raise ValueError('on purpose')\n")
    done = ptxbench("eval", "kernel.py", "--task", "cpu_softmax_n1024", environment=environment, cwd=tmp_path)
    assert done.returncode == 1 and done.stdout.count("on purpose") == 1
    assert "failure: ValueError: on purpose\n  at kernel.py:2 in run\n" in done.stdout


@pytest.fixture
def silent_endpoint():
    """A model's endpoint that takes a request and answers none until the test is over."""
    asked, over = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.set()
            over.wait()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_ctrl_c_during_a_run_says_how_to_go_on(environment, tmp_path, silent_endpoint):
    address, asked = silent_endpoint
    arguments = ["run", "--task", "cpu_softmax_n1024", "--model", "openai/m", "--turns", "1", "--trajectories", "1"]
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments],
        env={**environment, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "k"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert asked.wait(60)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130 and stdout == "" and "Traceback" not in stderr
    assert stderr.splitlines()[-1] == (
        "interrupted; runs/openai-m-cpu_softmax_n1024-trajectories-1-turns-1 keeps what is finished, "
        "and the same command goes on from there"
    )
    assert "asking the model" in stderr
    assert (tmp_path / "runs" / "openai-m-cpu_softmax_n1024-trajectories-1-turns-1" / "run.json").is_file()


def test_ctrl_c_during_a_compilation_is_one_line(environment, tmp_path):
    kernel = tmp_path / "kernel.cu"
    kernel.write_text((ROOT / "kernels" / "sm_90a" / "gemm_bf16" / "kernel.cu").read_text() + "// compiled by no other test\n")
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "compile", "kernel.cu"],
        env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stderr.readline() == "compiling kernel.cu for sm_90a\n"
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout, stderr) == (130, "", "interrupted\n")


def judged(pid: int) -> bool:
    """Whether a process has a judge that has a candidate's process."""
    return any(children(judge) for judge in children(pid) if b"judge.serve" in Path(f"/proc/{judge}/cmdline").read_bytes())


def children(pid: int) -> list[int]:
    return [int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]


def waits_for_a_signal_to_be_taken(pid: int) -> bool:
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool((int(fields["ShdPnd"], 16) | int(fields["SigPnd"], 16)) >> (signal.SIGINT - 1) & 1)


def test_a_second_ctrl_c_while_a_kernel_is_judged_changes_nothing(environment, tmp_path):
    (tmp_path / "endless.py").write_text("def run(X, Y):\n    while True:\n        pass\n")
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "eval", "endless.py", "--task", "cpu_softmax_n1024"],
        env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not judged(running.pid):
        assert running.poll() is None, running.communicate()
        os.sched_yield()
    running.send_signal(signal.SIGINT)
    while waits_for_a_signal_to_be_taken(running.pid):
        os.sched_yield()
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout) == (130, "")
    assert stderr == "evaluating endless.py on cpu_softmax_n1024\ninterrupted\n"


def test_a_fault_of_ours_never_blames_the_candidate(environment, tmp_path):
    (tmp_path / "broken.py").write_text(
        "import sys\nimport ptxbench.app.doctor as doctor\nfrom ptxbench.cli import main\n"
        "def examine(settings):\n    raise RuntimeError('broken on purpose')\n"
        "doctor.examine = examine\nsys.argv = ['ptxbench', 'doctor']\nmain()\n"
    )
    done = subprocess.run([sys.executable, "broken.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "broken on purpose" in done.stderr and "error: a fault in ptxbench" in done.stderr


def test_a_folder_of_runs_is_reported_and_one_without_any_says_so(environment, tmp_path):
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps({"turn": 0, "text": "nothing"}) + "\n")
    run = ["run", "--task", "cpu_softmax_n1024", "--model", f"replay/{replies}", "--turns", "1", "--trajectories", "1"]
    for name in ("a", "b"):
        assert ptxbench(*run, "--out", f"runs/{name}", environment=environment, cwd=tmp_path).returncode == 0
    done = ptxbench("report", "runs", "--json", environment=environment, cwd=tmp_path)
    assert done.returncode == 0 and len(json.loads(done.stdout)) == 2
    (tmp_path / "empty").mkdir()
    done = ptxbench("report", "empty", environment=environment, cwd=tmp_path)
    assert done.returncode == 2 and "holds no run" in done.stderr and "  next: " in done.stderr


INTERRUPTED_IMPORT = """
import sys
from ptxbench import cli
from ptxbench.cli import application as loaded

def interrupted(arguments):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as stop:
        raise ImportError("a library that was interrupted while it was imported") from stop

loaded.application = interrupted
sys.argv = ["ptxbench", "tasks", "list"]
cli.main()
"""


def test_a_library_that_was_interrupted_while_it_was_imported_is_no_fault_of_ours() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, text=True)
    assert done.returncode == 130 and "interrupted" in done.stderr and "Traceback" not in done.stderr, done.stderr
