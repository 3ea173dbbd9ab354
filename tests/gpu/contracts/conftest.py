"""Builds the contract programs that the selected tests run, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.gpu import Gpu
from ptxbench.packs.programs import build_all
from ptxbench.toolchain import locate

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def built(
    request: pytest.FixtureRequest, hopper_gpu: Gpu, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path | str]:
    """Return by name each selected program's binary, or what nvcc said."""
    named = (item.callspec.params["program"] for item in request.session.items if "built" in getattr(item, "fixturenames", ()))
    folder = tmp_path_factory.mktemp("contract-programs")
    faults = build_all(locate(settings), [HERE / f"{name}.cu" for name in sorted(set(named))], folder)
    return {name: fault or folder / name for name, fault in faults.items()}
