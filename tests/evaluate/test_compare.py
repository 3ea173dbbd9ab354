"""What the compare stage says of calls that left their outputs alone, set by set; the candidate is a stand-in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ptxbench.evaluate.compare import Comparing
from ptxbench.evaluate.findings import BOTH, STRICT_ONLY
from ptxbench.evaluate.judge.held import Held, InputSet, hold_on_host
from ptxbench.evaluate.sandbox.claims import Answer
from ptxbench.evaluate.sandbox.staging import Arguments, Staging, lay_out
from ptxbench.schema import Profile
from ptxbench.suite import load

REFUSED = "CUDA runtime error 9 (cudaErrorInvalidConfiguration)"


class Lazy(Staging):
    """The memory of a candidate that works on some sets only: the right outputs are there, or the poison is."""

    right: tuple[str, ...] = ()
    sets: Sequence[InputSet] = ()

    def write(self, slot: int, inputs: Arguments) -> None:
        super().write(slot, inputs)
        against = next(one for one in self.sets if one.inputs is inputs)
        if against.kind in self.right:
            for cell in self.layout.slots[slot].outputs:
                self._data(cell)[:] = np.ascontiguousarray(against.expected[cell.name]).reshape(-1).view(np.uint8)

    def call(self, slots: Sequence[int], seconds: float) -> Answer:
        return Answer(claimed_ns=(1,) * len(slots), wall_ns=1000, returned="Tensor [4]", pending=REFUSED)


@pytest.fixture(scope="module")
def held() -> Held:
    return hold_on_host(load().task("cpu_gemm_n256_k256"), 0, Profile.STRICT)


@pytest.mark.parametrize(("right", "profiles"), [((), BOTH), (("published",), STRICT_ONLY)])
def test_outputs_that_were_left_alone_come_with_what_the_call_said(held: Held, right: tuple[str, ...], profiles: object) -> None:
    first, scaled = held.published(0), held.strict()
    assert scaled is not None
    dtypes = {name: spec.dtype for name, spec in (held.task.definition.inputs | held.task.definition.outputs).items()}
    with Lazy(lay_out(first.inputs, first.expected, dtypes, 1), 0) as arena:
        arena.right, arena.sets = right, [*(held.published(number) for number in range(3)), scaled]
        compared = Comparing(held, Profile.STRICT, lambda stage: None).run(arena, arena, 1.0)
    said = {rule.text: rule.profiles for rule in compared.broken}
    assert said[f"the call left an error behind: {REFUSED}"] == profiles
    assert said["run returned Tensor [4]; results belong into the output arguments"] == profiles
