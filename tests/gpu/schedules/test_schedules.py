"""The kernels of the pack's schedules, as prompts show them, compute what they promise: each in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.gpu import Gpu
from ptxbench.packs.programs import build, found, run
from ptxbench.toolchain import locate

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("program", found(Path(__file__).parent), ids=lambda path: path.stem)
def test_a_schedules_kernel_is_right(program: Path, hopper_gpu: Gpu, settings: Settings, tmp_path: Path) -> None:
    binary = tmp_path / program.stem
    assert build(locate(settings), program, binary) is None
    answers = run(binary)
    wrong = [f"{check.check}: {check.wrong} of {check.cases}: {check.detail}" for check in answers.checks if check.failed]
    assert answers.fault is None, "\n".join([answers.fault or "", *wrong])
    assert answers.checks and wrong == [], "\n".join(["", *wrong])
