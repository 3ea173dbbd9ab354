"""Fixtures that every room's tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.gpu import Gpu, visible_gpus


def pytest_configure() -> None:
    """Ctrl-C as in a terminal, also where the tests run in the background and inherit an ignored SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


SHARED = Path(__file__).parents[2] / "shared"
"""Real inputs made by others; beside the checkout, absent on most machines."""


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real inputs; the test is skipped, by name, where it is absent."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the folder shared/data is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def build_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One build cache for the whole test session, shared by all its workers."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "build-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def hopper_gpu() -> Gpu:
    """Skip, by name, where no GPU of compute capability 9.0 can be used."""
    found = visible_gpus()
    fitting = [one for one in found.devices if one.capability == (9, 0)]
    if not fitting:
        pytest.skip(found.reason or f"no GPU of compute capability 9.0 among {[one.name for one in found.devices]}")
    return fitting[0]


@pytest.fixture(scope="session")
def settings(build_cache: Path) -> Settings:
    """Settings that touch nothing of the user's."""
    return Settings(cache_dir=build_cache)
