"""Imported tables in reports: the published aggregates again, and on any other table of that form what its rows say."""

import csv
import json
import tempfile
from collections import defaultdict
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxbench.agent.imports.directory import write_directories
from ptxbench.agent.imports.published import COLUMNS, LABELS, read_published
from ptxbench.app.reporting import runs_in
from ptxbench.metrics import summarise, value_at
from ptxbench.report import load_runs, render

LIMITS = (1, 4, 8)


def imported(table, out, *, turns=8):
    """Return a table's rows as ``report --json`` prints them, by run, and what they were made of."""
    write_directories(read_published(table), out, turns=turns)
    loaded = load_runs(runs_in(out))
    rows = summarise(loaded.turns, loaded.planned)
    assert json.loads(render(rows, "json")) == [row.model_dump(mode="json") for row in rows]
    return {(row.key.run, row.key.task, row.key.arch): row for row in rows}, loaded


@pytest.fixture(scope="module")
def published(shared_data, tmp_path_factory):
    folder = shared_data / "published"
    rows, loaded = imported(folder / "turns.csv", tmp_path_factory.mktemp("imported") / "runs")
    return folder, {run: row for (run, _, _), row in rows.items()}, loaded


def aggregate(folder, name):
    with (folder / f"{name}_by_release_date.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_best_speedups_equal_the_published_ones(published):
    folder, rows, _ = published
    lines = aggregate(folder, "best_speedup")
    assert {(line["run"], line["turn_limit"]) for line in lines} == {(run, str(k)) for run in rows for k in LIMITS}
    for line in lines:
        best = rows[line["run"]].at[line["turn_limit"]].best_speedup
        assert f"{best or 0.0:.9g}" == f"{float(line['best_speedup']):.9g}", line


def test_trajectories_with_a_correct_turn_equal_the_published_ones(published):
    folder, rows, _ = published
    lines = aggregate(folder, "correctness_rate")
    assert len(lines) == len(rows) * len(LIMITS)
    for line in lines:
        row = rows[line["run"]]
        assert row.at[line["turn_limit"]].trajectories_with_success == int(line["correct"]), line
        assert row.trajectories == int(line["n_trajectories"]), line


def test_tagged_trajectories_and_correct_turns_equal_the_published_ones(published):
    """Their column counts executed instructions; on these runs that agrees with the tag, on others it need not."""
    folder, rows, _ = published
    lines = aggregate(folder, "arch_instruction_correctness")
    assert len(lines) == len(rows) * len(LIMITS)
    for line in lines:
        at = rows[line["run"]].at[line["turn_limit"]]
        assert at.source_tag_trajectories_with_success == int(line["correct_with_arch"]), line
        assert at.correct_turns == int(line["n_correct_turns"]), line


def test_no_tag_of_the_published_runs_is_taken_for_a_proof(published):
    _, rows, loaded = published
    assert sum(row.at["8"].source_tag_turns for row in rows.values()) == sum(
        turn.proof.source_target for turn in loaded.turns if turn.proof
    )
    for row in rows.values():
        assert row.at["8"].unknown_proofs == row.at["8"].correct_turns
        assert {value for _, value in row.fast_p_inst.mean} == {0.0} and row.at["8"].target_best_speedup is None


def test_the_frame_says_the_same_of_the_published_runs(published):
    pytest.importorskip("polars", reason="the extra report is not installed")
    _, rows, loaded = published
    check_frame(loaded, list(rows.values()))


def check_frame(loaded, rows):
    """The turn frame counts what the rows of a summary do; nothing to check where the extra is not installed."""
    if find_spec("polars") is None:
        return
    from ptxbench.metrics.by_limit import by_limit
    from ptxbench.metrics.frame import TurnFrame

    frame = TurnFrame.of(loaded.turns, loaded.planned)
    figures = frame.keyed(by_limit(frame, LIMITS)).rows(named=True)
    assert len(figures) == len(rows) * len(LIMITS)
    by_run = {row.key.run: row for row in rows}
    for figure in figures:
        at = by_run[figure["run"]].at[str(figure["k"])]
        assert (figure["n"], figure["correct"], figure["qualified"], figure["tagged"]) == (
            at.turns,
            at.correct_turns,
            at.qualified_turns,
            at.source_tag_turns,
        )
        assert figure["trajectories_correct"] == at.trajectories_with_success
        assert figure["trajectories_tagged"] == at.source_tag_trajectories_with_success
        assert figure["best_speedup"] == at.best_speedup


TAGS = {"hopper": ["H", "A, H", "A", "G"], "blackwell": ["H, B", "A, H, B", "A", "H", "G"]}
MODELS = ["Some Model", 'Quoted, "Model"']
RUNS = st.lists(
    st.tuples(
        st.sampled_from(MODELS),
        st.sampled_from(["hopper", "blackwell"]),
        st.sampled_from(["gemm_n7168_k5120", "mha_bwd_d128", "other"]),
        st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=10), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=3,
)


@st.composite
def tables(draw):
    """Draw the rows of a table: runs of one cell each, trajectories with any turns missing, in any order."""
    rows = []
    for number, (model, arch, definition, trajectories) in enumerate(draw(RUNS)):
        for name, turns in enumerate(trajectories):
            for turn in sorted(turns):
                label = draw(st.sampled_from(["Correct"] * 6 + list(LABELS)))
                right = label == "Correct"
                tag = draw(st.sampled_from(TAGS[arch])) if right else ""
                rows.append(
                    {
                        "model": model,
                        "arch": arch,
                        "definition": definition,
                        "workload_uuid": "w",
                        "run": f"run {number}",
                        "trajectory": f"exp_{name:03}",
                        "turn": turn,
                        "reasoning_tokens": draw(st.sampled_from(["", "0", "131067"])),
                        "outcome": label,
                        "speedup": draw(st.sampled_from(["0.0", "0.125", "0.5", "1.25"])) if right else "0.0",
                        "source_arch_tag": tag,
                        "target_instruction": int({"hopper": "H", "blackwell": "B"}[arch] in tag.split(", ")),
                    }
                )
    return draw(st.permutations(rows))


def by_trajectory(rows):
    grouped = defaultdict(list)
    for row in rows:
        grouped[row["trajectory"]].append(row)
    return grouped


@given(rows=tables(), turns=st.sampled_from([1, 4, 8]))
@settings(max_examples=80, deadline=None)
def test_every_figure_of_any_table_is_what_its_rows_say(rows, turns):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.csv"
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        found, loaded = imported(path, Path(folder) / "out", turns=turns)
    cells = defaultdict(list)
    for row in rows:
        cells[row["run"], row["definition"], {"hopper": "sm_90a", "blackwell": "sm_100a"}[row["arch"]]].append(row)
    assert found.keys() == cells.keys()
    for key, members in cells.items():
        check(found[key], members, turns)
    check_frame(loaded, list(found.values()))


def check(row, members, turns):
    grouped = by_trajectory(members)
    planned = max(turns, 1 + max(one["turn"] for one in members))
    lasts = {name: max(one["turn"] for one in inside) for name, inside in grouped.items()}
    lost = sum(last + 1 for last in lasts.values()) - len(members)
    assert row.trajectories == len(grouped) and row.n_evaluated == len(members)
    assert row.n_planned == planned * len(grouped) and row.complete is (lost == 0)
    assert row.tokens.reasoning == (
        sum(int(one["reasoning_tokens"]) for one in members if one["reasoning_tokens"])
        if any(one["reasoning_tokens"] for one in members)
        else None
    )
    for k in LIMITS:
        inside = [one for one in members if one["turn"] < k]
        not_reached = sum(max(0, min(k, planned) - last - 1) for last in lasts.values())
        right = [one for one in inside if one["outcome"] == "Correct"]
        tagged = [one for one in right if one["target_instruction"]]
        speedups = [float(one["speedup"]) for one in right if float(one["speedup"])]
        at = row.at[str(k)]
        assert (at.turns, at.not_reached_turns) == (len(inside) + not_reached, not_reached)
        assert (at.correct_turns, at.source_tag_turns) == (len(right), len(tagged))
        assert at.trajectories_with_success == len(by_trajectory(right))
        assert at.source_tag_trajectories_with_success == len(by_trajectory(tagged))
        assert at.best_speedup == max(speedups, default=None)
        assert (at.unknown_proofs, at.qualified_turns, at.target_best_speedup) == (len(right), 0, None)
        assert at.target_trajectories_with_success == 0
        if at.turns:
            assert at.turn_correctness == len(right) / at.turns and at.target_turn_correctness == 0.0
    n = len(members) + sum(planned - last - 1 for last in lasts.values())
    speedups = [float(one["speedup"]) for one in members]
    assert row.fast_p.min is row.fast_p.max is row.fast_p_inst.min is row.fast_p_inst.max is None
    for p in (0.0, 0.125, 0.3, 0.5, 1.25):
        assert value_at(row.fast_p.mean, p) == pytest.approx(float(Fraction(sum(s > p for s in speedups), n)), abs=1e-12)
        assert value_at(row.fast_p_inst.mean, p) == 0.0
    counted = defaultdict(int)
    for outcomes in row.outcomes_by_turn.values():
        for name, count in outcomes.items():
            counted[name] += count
    expected = defaultdict(int, {"not_reached": n - len(members)} if n > len(members) else {})
    for one in members:
        expected[LABELS[one["outcome"]].value] += 1
    assert counted == expected
