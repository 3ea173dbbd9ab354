"""The whole loop with nothing scripted but the model: bundled task, real judge, journal, report."""

import asyncio
import json

import pytest

from ptxbench.agent import RunConfig, run
from ptxbench.agent.engine.ledger import TurnStep, read_steps
from ptxbench.agent.extract import extract
from ptxbench.agent.prompt import system_message
from ptxbench.evaluate import choose
from ptxbench.metrics import summarise
from ptxbench.report import load_runs, render
from ptxbench.schema import Candidate, Language, Outcome, Profile, Source
from ptxbench.suite import load
from ptxbench.toolchain import Builder

TASK = "cpu_softmax_n1024"


def block(body):
    return f"Here it is.\n```python\n{body}\n```\n"


WRONG = block("def run(X, Y):\n    Y[:] = X\n")
RAISES = block("def run(X, Y):\n    raise ValueError('no')\n")
BROKEN = block("def run(X, Y:\n")
RIGHT = block(
    """import numpy as np

def run(X, Y):
    e = np.exp(X - X.max(axis=1, keepdims=True))
    Y[:] = e / e.sum(axis=1, keepdims=True)
"""
)
HOSTILE = block("def run(X, Y):\n    pass  # \x00\x1b \ufeff \u202e\n")
HUGE = block("def run(X, Y):\n    pass\n" + "# padding\n" * 300_000)


@pytest.fixture
def play(settings, tmp_path):
    def go(replies, **changes):
        recording = tmp_path / "replies.jsonl"
        recording.write_text("".join(json.dumps({"turn": n, "text": text}) + "\n" for n, text in enumerate(replies)))
        builder = Builder(settings)
        config = RunConfig(
            **(
                {"tasks": (TASK,), "model": f"replay/{recording}", "trajectories": 1, "turns": len(replies), "language": "python"}
                | changes
            )
        )
        summary = asyncio.run(run(config, load(), lambda task: choose(task, None, settings, builder), tmp_path / "run"))
        return summary, [step.row for step in read_steps(tmp_path / "run") if isinstance(step, TurnStep)]

    return go


def test_a_recorded_model_is_judged_for_real_and_reported(play, tmp_path):
    summary, rows = play([BROKEN, "I do not know.", RAISES, WRONG, RIGHT])
    assert summary.exit_code == 0
    assert [row.outcome for row in rows] == [
        Outcome.COMPILE_ERROR,
        Outcome.NO_CODE,
        Outcome.RUNTIME_ERROR,
        Outcome.WRONG_VALUE,
        Outcome.CORRECT,
    ]
    assert rows[-1].correct.strict is True and rows[-1].speedup > 0
    table = load_runs([tmp_path / "run"])
    (row,) = summarise(table.turns, table.planned)
    assert (row.at["8"].correct_turns, row.n_planned, row.complete, row.key.device) == (1, 5, True, "cpu")
    assert row.baseline.startswith("NumPy ")
    assert f"baseline {row.baseline}" in render([row], "table", width=160)


@pytest.mark.parametrize("reply", [HOSTILE, HUGE], ids=["control characters", "three megabytes"])
def test_a_candidate_that_cannot_be_built_is_a_row_and_not_an_error(play, reply):
    summary, rows = play([reply, WRONG])
    assert summary.exit_code == 0
    assert rows[0].outcome not in (None, Outcome.CORRECT) and rows[1].outcome is Outcome.WRONG_VALUE


@pytest.mark.parametrize(("task", "language"), [("gemm_n7168_k5120", Language.CUDA), ("cpu_gemm_n256_k256", Language.CPP)])
def test_the_example_of_the_prompt_compiles_and_keeps_the_rules(settings, task, language):
    subject = load().task(task)
    prompt = system_message(subject, language=language, turns=1, profile=Profile.STRICT).content
    name = "kernel.cu" if language is Language.CUDA else "kernel.cpp"
    candidate = Candidate(
        sources=(Source(path=name, content=extract(prompt, language).code),),
        entry_point=f"{name}::run",
        language=language,
        arch=subject.arch,
    )
    result = Builder(settings).build(candidate)
    assert result.build.ok, result.build.diagnostics
    assert result.violations == ()
