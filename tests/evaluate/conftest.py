"""A worker with its judge, a small task, and candidates that are compiled without the policy in front of them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ptxbench.evaluate import EvaluateOptions
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.judge.request import Request
from ptxbench.evaluate.worker import Worker
from ptxbench.schema import Language, Source, Task
from ptxbench.suite import Suite, load


def beside(name: str) -> ModuleType:
    """Return the module of that name beside this file."""
    full = f"ptxbench_tests_evaluate_{name}"
    spec = importlib.util.spec_from_file_location(full, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def children() -> ModuleType:
    """The module ``gpu_children.py``: children as on a GPU that need none."""
    return beside("gpu_children")


CHEATS = Path(__file__).parent / "cheats"
RUN_SECONDS = 1.0


@pytest.fixture(scope="session")
def suite() -> Suite:
    """The bundled tasks."""
    return load()


@pytest.fixture(scope="session")
def softmax(suite: Suite) -> Task:
    """A softmax of 37 rows, which no tile divides."""
    spec = suite.get("cpu_softmax_n1024")
    uuid = next(one.workload.uuid for one in spec.workloads if one.workload.axes == {"M": 37})
    return suite.task(f"{spec.name}@{uuid}")


@pytest.fixture(scope="session")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that candidates try to damage; everybody may write it and its folder."""
    folder = tmp_path_factory.mktemp("victim")
    folder.chmod(0o777)
    path = folder / "file"
    path.write_text("untouched")
    path.chmod(0o666)
    return path


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory, victim: Path) -> Callable[[str], Path]:
    """Compile a C++ cheat by name, once."""
    folder = tmp_path_factory.mktemp("cheats")

    def build(name: str) -> Path:
        library = folder / f"{name}.so"
        if not library.exists():
            flags = ["-O1", "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", f'-DVICTIM="{victim}"', "-w", "-pthread"]
            subprocess.run(["g++", *flags, str(CHEATS / f"{name}.cpp"), "-o", str(library)], check=True)
        return library

    return build


@pytest.fixture(scope="session")
def core() -> int:
    """A core for this test process: the judge pins a candidate to one, as every evaluator asks it to."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % len(cores)]


@pytest.fixture(scope="session")
def request_for(softmax: Task, compiled: Callable[[str], Path], core: int) -> Callable[..., Request]:
    """Make the judge's request for a cheat: a C++ one, or a Python one when its name begins with ``py_``."""

    def make(name: str, *, task: Task = softmax, stages: tuple[str, ...] = ("compare",)) -> Request:
        python = name.startswith("py_")
        text = (CHEATS / f"{name}.py").read_text() if python else ""
        return Request(
            task=task,
            options=EvaluateOptions(stages=stages, run_s=RUN_SECONDS),
            language=Language.PYTHON if python else Language.CPP,
            symbol="run",
            entry_file=f"{name}.py" if python else f"{name}.cpp",
            library=None if python else str(compiled(name)),
            sources=(Source(path=f"{name}.py", content=text),) if python else (),
            cpus=(core,),
        )

    return make


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """One worker for all tests that a judge must survive."""
    one = Worker()
    yield one
    one.close()


@pytest.fixture(scope="session")
def judge(worker: Worker, request_for: Callable[..., Request]) -> Callable[..., Findings]:
    """Have a cheat judged, by a judge that runs already."""

    def evaluate(name: str, **options: object) -> Findings:
        return worker.evaluate(request_for(name, **options), threading.Event())

    evaluate("honest")
    return evaluate
