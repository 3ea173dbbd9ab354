"""Shares that undecided turns or unknown proofs could raise are shown as lower bounds: the curves' as well as the rates'."""

import json

import pytest

from ptxbench.agent.engine.ledger import JOURNAL_NAME
from ptxbench.report.page import write_page
from ptxbench.report.page.runs import read_runs
from ptxbench.report.page.summary import summary

CORRECT = {"outcome": "correct", "undecided": None, "correct": {"paper": True, "strict": True, "reasons": []}, "speedup": 0.5}
UNKNOWN = {"status": "unknown", "compute": None, "data_movement": None, "work_share": None}
MARKS = {
    "proven": CORRECT | {"proof": UNKNOWN | {"status": "qualified"}},
    "unproven": CORRECT | {"proof": UNKNOWN},
    "undecided": {
        "outcome": None,
        "undecided": "no GPU",
        "correct": {"paper": None, "strict": None, "reasons": []},
        "speedup": None,
        "proof": None,
    },
}


@pytest.fixture
def run(made, tmp_path):
    """``run(marks)``: a run of one trajectory, with a turn for each of ``MARKS`` that is named."""

    def write(*marks):
        shape = made.Shape(name="r", variants=("v",), trajectories=1, turns=len(marks), seed=1)
        folder = made.make_run(tmp_path / "r", shape)
        steps = [json.loads(line) for line in (folder / JOURNAL_NAME).read_text().splitlines()]
        turns = [step for step in steps if step["kind"] == "turn"]
        for step, mark in zip(turns, marks, strict=True):
            step["row"] |= MARKS[mark] | {"flags": []}
        (folder / JOURNAL_NAME).write_text("".join(json.dumps(step) + "\n" for step in steps))
        return folder

    return write


@pytest.mark.parametrize(
    ("mark", "every", "target"),
    [("proven", "100.0 %", "100.0 %"), ("unproven", "100.0 %", "≥ 50.0 %"), ("undecided", *["≥ 50.0 %"] * 2)],
)
def test_a_share_that_unknown_turns_could_raise_is_marked(tab, run, tmp_path, mark, every, target):
    file = tmp_path / "page.html"
    folder = run("proven", mark)
    write_page([folder], file)
    (cell,) = summary(read_runs([folder]))["cells"]
    page = tab.open(file)
    first = page.get_by_role("table", name="Results").locator("tbody tr").first.inner_text()
    assert [part for part in first.split() if part == "≥"] == ["≥"] * (every + target).count("≥")
    for kind, share in (("all", every), ("inst", target)):
        page = tab.open(file, f"#/cell/{cell['id']}?curve={kind}")
        chart = page.locator("#curves")
        chart.focus()
        for _ in range(12):
            page.keyboard.press("PageDown")
        assert page.locator(".readout button").first.inner_text().startswith(share)
        assert chart.get_attribute("aria-valuetext").endswith(share)


@pytest.mark.parametrize("turns", [8, 9])
def test_runs_of_more_than_eight_turns_say_what_their_curves_are_of(run, turns):
    data = summary(read_runs([run(*["proven"] * (turns - 1), "unproven")]))
    notes = data["groups"][0]["notes"]
    assert any(f"Curves (Fast_p) are of all turns, up to {turns} of a trajectory" in note for note in notes) is (turns > 8)
    assert data["cells"][0]["figures"]["could_raise"] == {"fast_p": 0, "fast_p_inst": 1}
