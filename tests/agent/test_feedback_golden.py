"""Every feedback text as it is, in both profiles: a change of a template must be wanted (``recorded_texts.py`` writes anew)."""

import re
from pathlib import Path

import pytest

from ptxbench.agent.feedback import Best, evaluation_feedback, no_code_feedback
from ptxbench.agent.feedback.profile import budget_characters
from ptxbench.schema import CorrectVerdict, Language, Outcome, Profile

OUTCOMES = [*(one for one in Outcome if one is not Outcome.NO_CODE), None]


@pytest.mark.parametrize("profile", ["paper", "full"])
@pytest.mark.parametrize("outcome", OUTCOMES, ids=str)
def test_the_feedback_of_every_outcome_is_as_recorded(recorded, telling, scripted, outcome, profile):
    task, evaluation = telling.records(scripted, outcome)
    text = evaluation_feedback(
        evaluation, telling.CANDIDATE, profile=profile, turn=2, turns=8, best=Best(turn=0, speedup=0.75), task=task
    )
    recorded.checked(f"{'undecided' if outcome is None else outcome}-{profile}", text)
    assert telling.HOST not in text and "/srv" not in text and len(text) <= budget_characters(str(outcome)) + 1


ONLY_IN_FULL = (
    "registers", "spilled", "Best so far", "best so far", "Noted", "least time", "arget instruction", "honest kernels", "paired",
    "pattern", "worst at", "stood", "never written", "past the end", "the checker says", "refused:", "Performance warnings",
    "Frobenius", "expected",
)  # fmt: skip


def test_the_paper_profile_tells_nothing_beyond_what_was_published(recorded):
    texts = {path.stem: path.read_text(encoding="utf-8") for path in recorded.FOLDER.glob("*-paper.md")}
    assert len(texts) == len(OUTCOMES)
    assert [(name, words) for name, text in texts.items() for words in ONLY_IN_FULL if words in text] == []
    full = "".join(path.read_text(encoding="utf-8") for path in recorded.FOLDER.glob("*-full.md"))
    assert [words for words in ONLY_IN_FULL if words not in full] == []


def test_a_correct_kernel_of_a_paper_run_is_told_what_the_strict_rules_say(telling, scripted):
    task, evaluation = telling.records(scripted, Outcome.CORRECT)
    reasons = ("strict: Y: relative Frobenius error 0.1, bound 1e-06",)
    evaluation = evaluation.model_copy(
        update={"profile": Profile.PAPER, "correct": CorrectVerdict(paper=True, strict=False, reasons=reasons)}
    )
    full, paper = (
        evaluation_feedback(evaluation, telling.CANDIDATE, profile=name, turn=0, turns=2, task=task) for name in ("full", "paper")
    )
    assert f"The strict rules would not count it:\n- {reasons[0]}" in full
    assert "strict" not in paper


@pytest.mark.parametrize("missing", ["empty_reply", "no_block", "only_other_labels", "empty_block", "cut_off", "refusal"])
def test_the_feedback_without_code_is_as_recorded(recorded, missing):
    recorded.checked(f"no_code-{missing}", no_code_feedback(missing, language=Language.CUDA, profile="full", turn=0, turns=8))


def test_every_template_has_its_recorded_texts(recorded):
    templates = Path(evaluation_feedback.__code__.co_filename).parents[1] / "templates" / "feedback"
    names = {path.name.removesuffix(".md.j2") for path in templates.glob("[a-z]*.j2")}
    assert {re.sub(r"-.*", "", path.stem) for path in recorded.FOLDER.glob("*.md")} == names
