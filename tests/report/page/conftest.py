"""Made runs, their page, and the system's Chromium."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

from ptxbench.report.page import write_page
from ptxbench.schema import Language

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
"""A browser that asks nobody anything."""


@pytest.fixture(scope="session")
def made():
    """The module ``benchmarks/made_runs.py``: run directories of any size."""
    name = "ptxbench_made_runs"
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / "made_runs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def folders(made, tmp_path_factory):
    """Three runs: a CUDA one on an H200, a Triton one of another model and task, and one on a CPU."""
    root = tmp_path_factory.mktemp("runs")
    shapes = [
        made.Shape(name="cuda-run", variants=("base", "short"), trajectories=2, turns=4, seed=3),
        made.Shape(
            *("triton-run", "openai/b-model", "mha_forward"), language=Language.TRITON, variants=("base",), trajectories=2, turns=4
        ),
        made.Shape(
            *("cpu-run", "openai/a-model", "cpu_gemm", "cpu", "cpu", Language.CPP), variants=("base",), trajectories=1, turns=3
        ),
    ]
    return [made.make_run(root / shape.name, shape) for shape in shapes]


@pytest.fixture(scope="session")
def html(folders, tmp_path_factory):
    """The page of the three runs."""
    file = tmp_path_factory.mktemp("page") / "results.html"
    assert write_page(folders, file).whole
    return file


@pytest.fixture(scope="module")
def chromium():
    """A headless Chromium; the test is skipped, by name, where there is none.

    For one module: while Playwright runs, its event loop does, and tests of other modules begin loops of their own.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="the page's tests need playwright (extra dev)")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("the page's tests need Chromium (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=os.environ.get("PTXBENCH_CHROMIUM", path), args=FLAGS)
        yield browser
        browser.close()


class Watched:
    """A tab of the browser, with all that went wrong and all that was asked for."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.errors, self.requests = [], []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, file, address="#/"):
        """Open a file at an address of the page."""
        self.page.goto("about:blank")
        self.page.goto(f"{file.as_uri()}{address}")
        return self.page

    def foreign(self, file):
        """Return the requests that were for anything but the file."""
        return [url for url in self.requests if not url.startswith((file.as_uri(), "data:", "about:"))]


@pytest.fixture
def tab(chromium):
    """A tab of its own; at the end nothing may have gone wrong in it."""
    watched = Watched(chromium)
    yield watched
    watched.context.close()
    assert watched.errors == []


@pytest.fixture
def new_tab(chromium):
    """Makes tabs with options (width, colour scheme)."""
    tabs = []

    def make(**options):
        tabs.append(Watched(chromium, **options))
        return tabs[-1]

    yield make
    for one in tabs:
        one.context.close()
    assert [error for one in tabs for error in one.errors] == []
