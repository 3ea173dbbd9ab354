"""docs/metrics.md: its worked example is computed again, and its definitions are those that reports show."""

import io
import json
import re
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from ptxbench.metrics.budgets import at_budgets
from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.by_turn import outcomes_by_turn, reasoning_by_turn
from ptxbench.metrics.curves import fast_p_curves
from ptxbench.metrics.definitions import definitions
from ptxbench.metrics.effort import effort_to_first
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.intervals import intervals_by_limit
from ptxbench.metrics.resources import resources_by_outcome
from ptxbench.metrics.trajectories import trajectories, trajectory_medians

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("## A worked example")[2]

COMPUTED = {
    "by_limit(frame)": by_limit,
    'fast_p_curves(frame, "fast_p")': fast_p_curves,
    'fast_p_curves(frame, "fast_p_inst")': lambda frame: fast_p_curves(frame, "fast_p_inst"),
    "outcomes_by_turn(frame)": lambda frame: outcomes_by_turn(frame).filter(pl.col("turn") < 2),
    "reasoning_by_turn(frame)": lambda frame: reasoning_by_turn(frame).filter(pl.col("turn") == 0),
    "trajectories(frame)": trajectories,
    "trajectory_medians(trajectories(frame))": lambda frame: trajectory_medians(trajectories(frame)),
    "at_budgets(frame, [3200, 20000, 20800])": lambda frame: at_budgets(frame, [3200, 20000, 20800]),
    "effort_to_first(frame)": effort_to_first,
    "resources_by_outcome(frame)": resources_by_outcome,
    "intervals_by_limit(frame, [8])": lambda frame: intervals_by_limit(frame, [8]),
}


@pytest.fixture(scope="module")
def frame():
    table = EXAMPLE.partition("```csv\n")[2].partition("```")[0]
    names = {name: pl.lit(value) for name, value in {"model": "m", "arch": "sm_90a", "task": "gemm", "run": "r"}.items()}
    return TurnFrame.from_flat(pl.read_csv(io.StringIO(table)).with_columns(**names))


def tables():
    """Return the page's tables by the call that stands before each: a list of lines, each a dictionary."""
    found = {}
    for call, text in re.findall(r"^`([^`\n]+\))`[:,](.*?)(?=^`[^`\n]+\)`[:,]|\Z)", EXAMPLE, re.MULTILINE | re.DOTALL):
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
        found[call] = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    return found


def read(text):
    if text == "null":
        return None
    return float(Fraction(text)) if re.fullmatch(r"[0-9./]+", text) else text


def test_every_table_of_the_example_is_tested():
    assert set(tables()) == set(COMPUTED)


@pytest.mark.parametrize("call", COMPUTED)
def test_the_page_s_table_is_what_the_function_returns(frame, call):
    written = tables()[call]
    computed = COMPUTED[call](frame).select(*written[0]).to_dicts()
    expected = [{name: read(text) for name, text in line.items()} for line in written]
    assert computed == [pytest.approx(line, abs=1e-9) for line in expected]


def test_the_page_has_every_definition_as_reports_show_it():
    rows = [
        f"| {one.name} | {one.formula.replace('|', chr(92) + '|')} | {one.does_not_establish} |" for one in definitions().values()
    ]
    missing = [row for row in rows if row not in PAGE.splitlines()]
    assert missing == []


def test_every_figure_has_a_definition_that_says_what_it_does_not_establish():
    rates = {"turn_correctness", "target_turn_correctness", "best_speedup", "target_best_speedup", "median_speedup"}
    rates |= {
        "target_median_speedup",
        "trajectories_correct",
        "trajectories_qualified",
        "trajectories_tagged",
        "fast_p",
        "fast_p_inst",
    }
    rates |= {"success", "target_success", "median_best_speedup", "median_target_best_speedup", "share", "reasoning_tokens"}
    assert rates <= set(definitions())
    assert all(one.does_not_establish.endswith(".") and "\n" not in one.does_not_establish for one in definitions().values())
    assert len({one.does_not_establish for one in definitions().values()}) == len(definitions())


def test_the_page_quotes_its_evidence():
    evidence = Path(__file__).parents[2] / "evidence" / "cpu" / "metrics-speed.json"
    figures = json.loads(evidence.read_text(encoding="utf-8"))["figures"]
    text = f"of {figures['cells']:,} cells took {figures['total_s']:.1f} s on two cores for every figure above"
    assert f"{text}, and {figures['peak_mib']} MiB" in PAGE
    assert figures["turns"] == 1_000_000 and figures["holds"]
