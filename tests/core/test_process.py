"""Tools run within limits, their output is bounded, and nothing of theirs stays behind."""

from __future__ import annotations

import os
import select
import subprocess
import sys

import pytest

from ptxbench.core.bounded import BoundedOutput
from ptxbench.core.errors import ToolMissing
from ptxbench.core.process import ProcessLimits, run_tool

ENV = {"PATH": "/usr/bin:/bin"}


def ends(pid: int) -> bool:
    """Whether a process that was sent SIGKILL is gone within ten seconds: delivery takes a moment on a loaded machine."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 10)[0])
    finally:
        os.close(descriptor)


def python(code: str, **limits: object) -> object:
    return run_tool([sys.executable, "-c", code], limits=ProcessLimits(**{"wall_seconds": 20, **limits}), env=ENV)


def test_output_status_and_stdin_come_through():
    done = run_tool(
        [sys.executable, "-c", "import sys; print(sys.stdin.read().upper()); print('e', file=sys.stderr); sys.exit(3)"],
        limits=ProcessLimits(wall_seconds=20),
        env=ENV,
        stdin=b"abc" * 100_000,
    )
    assert done.stdout.strip() == "ABC" * 100_000 and done.stderr == "e\n" and done.returncode == 3 and not done.ok


def test_only_the_given_environment_reaches_the_tool(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "secret" not in python("import os; print(dict(os.environ))").stdout


def test_endless_output_is_kept_head_and_tail_in_bounded_memory():
    done = python("import sys\nfor i in range(400_000): print('line', i)", output_bytes=10_000)
    assert len(done.stdout) < 11_000 and done.stdout.startswith("line 0\n") and done.stdout.endswith("line 399999\n")
    assert done.dropped_bytes > 1_000_000 and "bytes left out" in done.stdout


def test_a_hanging_tool_is_killed_with_all_its_children(tmp_path):
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "child.wait()"
    )
    done = python(code, wall_seconds=2)
    assert done.timed_out
    for pid in map(int, pids.read_text().split()):
        assert ends(pid)


def test_a_grandchild_that_holds_the_pipe_does_not_keep_the_caller():
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()']); print('done')"
    done = python(code, wall_seconds=60)
    assert done.stdout == "done\n" and not done.timed_out and done.seconds < 30


def test_memory_and_file_limits_bind():
    assert python("x = bytearray(2 << 30)", memory_bytes=1 << 30).returncode != 0
    assert python("open('/dev/shm/ptxbench-limit', 'wb').write(b'x' * 100_000)", file_bytes=4096).returncode != 0
    if os.path.exists("/dev/shm/ptxbench-limit"):
        os.unlink("/dev/shm/ptxbench-limit")


def test_a_missing_tool_is_named():
    with pytest.raises(ToolMissing, match="no-such-tool"):
        run_tool(["/no-such-tool"], limits=ProcessLimits(wall_seconds=1), env=ENV)


def test_a_missing_tool_is_named_under_limits_as_well(tmp_path):
    (tmp_path / "not-executable").write_text("x")
    limits = ProcessLimits(wall_seconds=5, cpu_seconds=5, memory_bytes=1 << 30, file_bytes=1 << 20)
    for name in ("/no-such-tool", "no-such-tool", "./no-such-tool", str(tmp_path / "not-executable")):
        with pytest.raises(ToolMissing, match="cannot start"):
            run_tool([name], limits=limits, env=ENV)
    (tmp_path / "here").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "here").chmod(0o755)
    assert run_tool(["./here"], limits=limits, env=ENV, cwd=tmp_path).stdout == "here\n"


def test_limits_above_those_that_bind_already_do_not_keep_a_tool_from_running():
    script = (
        "import os, resource, sys\n"
        "for name in ('CPU', 'AS', 'FSIZE'):\n"
        "    resource.setrlimit(getattr(resource, 'RLIMIT_' + name), {'CPU': (100, 100)}.get(name, (1 << 31, 1 << 31)))\n"
        "os.geteuid() or os.setuid(65534)\n"
        "from ptxbench.core.process import ProcessLimits, run_tool\n"
        "limits = ProcessLimits(wall_seconds=20, cpu_seconds=1000, memory_bytes=1 << 40, file_bytes=1 << 40)\n"
        "done = run_tool(['/bin/sh', '-c', 'ulimit -H -t; ulimit -v; ulimit -f'], limits=limits, env={'PATH': '/usr/bin:/bin'})\n"
        "print(done.returncode, done.stdout.split(), done.stderr)\n"
    )
    code = f"import sys; sys.path[:0] = {sys.path!r}\nimport ptxbench.core.process\n{script}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == f"0 ['100', '{(1 << 31) // 1024}', '{(1 << 31) // 512}']", done.stderr


def test_a_grandchild_that_prints_for_ever_does_not_keep_the_caller():
    done = python("import subprocess; subprocess.Popen(['yes']); print('done', flush=True)", wall_seconds=60)
    assert not done.timed_out and done.returncode == 0 and done.seconds < 30


def test_a_tool_that_ignores_signals_and_never_reads_is_killed_in_time():
    ignoring = "import signal\nfor s in (1, 2, 13, 15): signal.signal(s, signal.SIG_IGN)\n"
    code = ignoring + "print('up', flush=True)\nwhile True: signal.pause()"
    done = run_tool([sys.executable, "-c", code], limits=ProcessLimits(wall_seconds=3), env=ENV, stdin=b"x" * (64 << 20))
    assert done.timed_out and done.returncode == -9 and done.stdout == "up\n"


def test_a_tool_inherits_no_descriptor_and_runs_where_standard_input_is_closed():
    script = (
        "import os, sys\n"
        "from ptxbench.core.process import ProcessLimits, run_tool\n"
        "leak = os.open('/dev/null', os.O_RDONLY); os.set_inheritable(leak, True); os.close(0)\n"
        "limits, command = ProcessLimits(wall_seconds=20), ['/bin/sh', '-c', 'cat; ls /proc/self/fd']\n"
        "done = run_tool(command, limits=limits, env=dict(os.environ), stdin=b'in ')\n"
        "print(done.stdout.split())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "['in', '0', '1', '2', '3']", done.stderr


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
@pytest.mark.parametrize("pieces", [[b"abcdef"], [b"a", b"bc", b"", b"d" * 50], [b"x" * 1000, b"tail"]])
def test_bounded_output_counts_what_it_drops(limit, pieces):
    output = BoundedOutput(limit)
    for piece in pieces:
        output.feed(piece)
    whole = b"".join(pieces)
    head = max(1, limit // 2)
    assert output.total_bytes == len(whole)
    if len(whole) <= limit:
        assert output.text().encode() == whole and output.dropped_bytes == 0
    else:
        assert output.dropped_bytes == len(whole) - limit
        text = output.text().encode()
        assert text.startswith(whole[:head]) and text.endswith(b"out \xe2\x80\xa6\n" + whole[len(whole) - (limit - head) :])


def test_one_huge_piece_is_not_kept_whole():
    output = BoundedOutput(1000)
    output.feed(b"x" * 10_000_000)
    assert sum(map(len, output._tail)) <= 500 and output.dropped_bytes == 10_000_000 - 1000
