"""Where a kernel's time goes is counted when a run asks for it, and told in full feedback only."""

import asyncio

import pytest
from pydantic import ValidationError

from ptxbench.agent import RunConfig, run
from ptxbench.agent.engine.ledger import Ledger, TurnStep, read_steps
from ptxbench.agent.models import Reply, Usage
from ptxbench.agent.plan import read_plan
from ptxbench.schema import Counters, KernelCounters


class Model:
    name = "openai/m"

    def facts(self):
        return {}

    async def reply(self, messages, config):
        return Reply(text="```cpp\nvoid run() {}\n```", usage=Usage())

    async def close(self):
        pass


def test_paper_feedback_has_no_place_for_it():
    with pytest.raises(ValidationError, match="paper feedback tells nothing of it"):
        RunConfig(tasks=("twice",), model="openai/m", feedback="paper", profile_feedback=True)


@pytest.mark.parametrize("asked", [False, True])
def test_the_evaluator_is_asked_for_counters_and_the_model_is_told_of_them(scripted, tmp_path, asked):
    class Counting(scripted.ScriptedEvaluator):
        async def evaluate(self, candidate, task, options):
            evaluation = await super().evaluate(candidate, task, options)
            kernels = (KernelCounters(kernel="twice", launches=1, dram_percent=80.0),)
            return evaluation.model_copy(update={"counters": Counters(kernels=kernels) if options.counters else None})

    config = RunConfig(tasks=("twice",), model="openai/m", trajectories=1, turns=2, profile_feedback=asked)
    asyncio.run(run(config, scripted.OneSuite(), lambda task: Counting(), tmp_path / "run", model=Model()))
    first = next(step for step in read_steps(tmp_path / "run") if isinstance(step, TurnStep))
    with Ledger(tmp_path / "run") as ledger:
        assert ("- twice: device memory 80 %" in ledger.text(first.feedback)) == asked
        assert (ledger.evaluation(first.row.hashes.evaluation).counters is not None) == asked


def test_a_plan_may_ask_for_it(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text("[sweep]\nmodels = ['openai/m']\ntasks = ['a']\n[rules]\nprofile_feedback = true\n")
    (cell,) = read_plan(path).cells("p")
    assert cell.config.profile_feedback
