"""What the pack's contracts say holds on the device: every program of this folder, each in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.packs.programs import found, run

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("program", [path.stem for path in found(Path(__file__).parent)])
def test_a_device_does_what_the_contracts_say(built, program):
    binary = built[program]
    assert isinstance(binary, Path), binary
    answers = run(binary)
    wrong = [
        f"{check.contract}: {check.check}: {check.wrong} of {check.cases}: {check.detail}"
        for check in answers.checks
        if check.failed
    ]
    assert answers.fault is None, "\n".join([answers.fault or "", *wrong])
    assert wrong == [], "\n".join(["", *wrong])
    assert answers.checks or answers.figures, "the program said nothing"
