"""Reports keep their shape: the JSON is a contract, tables say what was not decided."""

import csv
import io
import json
import re

import pytest

from ptxbench.core.errors import UsageError
from ptxbench.metrics import NotReached, Plan, Row, summarise
from ptxbench.report import render
from ptxbench.report.cells import comparable_groups, heading
from ptxbench.schema import CellKey, CorrectVerdict, Outcome, TokenCount, Turn, TurnHashes, TurnProof

KEY = CellKey(
    model="openai/some-model", arch="sm_90a", device="h200", task="gemm_n7168_k5120", workload="w", language="cuda",
    protocol="strict", run="r",
)  # fmt: skip

TOP = [
    "key",
    "trajectories",
    "n_planned",
    "n_evaluated",
    "at",
    "fast_p",
    "fast_p_inst",
    "outcomes_by_turn",
    "tokens",
    "cost_usd",
    "gpu_seconds",
]
CELL = [
    "model",
    "checkpoint",
    "arch",
    "device",
    "task",
    "workload",
    "language",
    "pack",
    "arm",
    "condition",
    "harness",
    "protocol",
    "run",
]
AT = [
    "turns", "correct_turns", "qualified_turns", "unknown_proofs", "turn_correctness", "target_turn_correctness", "best_speedup",
    "target_best_speedup", "median_speedup", "target_median_speedup", "trajectories_with_success",
    "target_trajectories_with_success", "ci95",
]  # fmt: skip


def turn(trajectory, index, outcome, speedup=None, proof=None, key=KEY):
    correct = None if outcome is None else outcome is Outcome.CORRECT
    return Turn(
        key=key,
        variant="plain",
        trajectory=trajectory,
        turn=index,
        outcome=outcome,
        undecided=None if outcome else "no GPU",
        blame=None,
        correct=CorrectVerdict(paper=correct, strict=correct, reasons=()),
        speedup=speedup,
        candidate_us=None,
        reference_us=None,
        proof=proof and TurnProof(status=proof, compute=None, data_movement=None, work_share=None),
        hashes=TurnHashes(prompt="p", reply="r", source=None, evaluation=None, task="t"),
        tokens=TokenCount(input=1, output=2),
        cost_usd=None,
        seconds={},
    )


def plan(**changes):
    return Plan(
        **(
            {"variants": ("plain",), "trajectories": 2, "turns": 2, "baseline": "cuBLAS 13.1.0", "device_name": "NVIDIA H200"}
            | changes
        )
    )


@pytest.fixture
def measured():
    turns = [
        turn("plain-0", 0, Outcome.COMPILE_ERROR),
        turn("plain-0", 1, Outcome.CORRECT, 0.976, "qualified"),
        turn("plain-1", 0, Outcome.CORRECT, 1.25, "not_executed"),
        turn("plain-1", 1, Outcome.WRONG_VALUE),
    ]
    return summarise(turns, {KEY: plan()})


@pytest.fixture
def static():
    key = KEY.model_copy(update={"device": None})
    turns = [turn("plain-0", 0, Outcome.COMPILE_ERROR, key=key), turn("plain-0", 1, None, key=key)]
    alone = key.model_copy(update={"task": "mha_with_lse_d128"})
    turns += [turn("plain-0", n, None, key=alone) for n in range(2)]
    return summarise(turns, {k: plan(trajectories=1, baseline=None, device_name=None) for k in (key, alone)})


def key_paths(value, path=""):
    """Every key of nested objects, with the elements of ``at`` and ``outcomes_by_turn`` as one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            generic = "*" if path in (".at", ".outcomes_by_turn") else name
            yield f"{path}.{generic}"
            if not path.endswith(("by_turn.*", "by_turn")):
                yield from key_paths(inner, f"{path}.{generic}")


def test_json_holds_every_key_of_the_contract(measured):
    (row,) = json.loads(render(measured, "json"))
    assert set(TOP) <= row.keys()
    assert list(row["key"]) == CELL
    assert list(row["at"]) == ["1", "4", "8"]
    for at in row["at"].values():
        assert set(AT) <= at.keys() and "turn_correctness" in at["ci95"]
    assert row["fast_p"].keys() == row["fast_p_inst"].keys() == {"mean", "min", "max"}
    assert row["tokens"] == {"input": 4, "output": 8, "reasoning": None, "cached": None}
    assert row["fast_p_inst"]["mean"] == [[0.0, 0.25], [0.976, 0.0]]


def test_json_has_no_fewer_keys_than_the_shared_example(measured, shared_data):
    golden = json.loads((shared_data.parent / "design" / "golden" / "report.json").read_text())
    (row,) = json.loads(render(measured, "json"))
    missing = set(key_paths(golden[0])) - set(key_paths(row))
    assert not missing
    assert Row.model_validate(
        {**golden[0], "complete": True, "at": {"8": {**golden[0]["at"]["8"], "undecided_turns": 0, "not_reached_turns": 0}}}
    )


def test_json_of_undecided_turns_is_null_and_never_missing(static):
    for row in json.loads(render(static, "json")):
        for at in row["at"].values():
            assert set(AT) <= at.keys()
    assert row["at"]["8"]["turn_correctness"] is None and row["fast_p"]["mean"] is None


def test_the_table_shows_triplets_on_two_lines(measured):
    text = render(measured, "table", width=160)
    assert "profile strict · arch sm_90a · device NVIDIA H200 · language cuda · harness mini · baseline cuBLAS 13.1.0" in text
    assert "0.0 / 25.0 / 25.0" in text and "(50.0 / 50.0 / 50.0)" in text
    assert "– / 0.976 / 0.976" in text and "(1.250 / 1.250 / 1.250)" in text
    assert "2 correct, 1 compile_error, 1" in text
    assert "target instructions executed" in text


def test_the_table_says_what_was_not_decided(static):
    text = render(static, "table", width=160)
    assert "device none" in text and "baseline not measured" in text
    assert "(undecided)" in text
    assert "≥0.0" in text
    assert "3 turns could not be decided where the run was made" in text


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_a_target_rate_that_unknown_proofs_could_raise_is_a_lower_bound(format):
    turns = [turn("plain-0", n, Outcome.CORRECT, 1.0, proof) for n, proof in enumerate(("unknown", "not_executed"))]
    text = render(summarise(turns, {KEY: plan(trajectories=1)}), format, width=160)
    assert "≥0.0 / ≥0.0 / ≥0.0" in text and "(100.0 / 100.0 / 100.0)" in text
    assert "1 correct turns have an unknown proof" in text
    known = render(summarise(turns[1:], {KEY: plan(trajectories=1)}), format, width=160)
    assert "≥" not in known


def test_the_table_shows_what_is_missing():
    rows = summarise([turn("plain-0", 0, Outcome.CORRECT, 1.0, "unknown")], {KEY: plan()})
    text = render(rows, "table", width=160)
    assert "1 of 4" in text and "run again to resume" in text
    assert "1 correct turns have an unknown proof" in text


def test_rows_that_would_look_alike_name_their_run_and_workload(measured):
    def changed(**key):
        return [row.model_copy(update={"key": row.key.model_copy(update=key)}) for row in measured]

    for format in ("table", "markdown"):
        text = render([*measured, *changed(run="another")], format, width=160)
        assert "(another)" in text and "(r)" in text and "@w" not in text
        text = render([*measured, *changed(workload="other")], format, width=160)
        assert "@other" in text and "@w" in text and "(r)" not in text


def test_rows_that_must_not_be_compared_stand_in_tables_of_their_own(measured):
    paper = [row.model_copy(update={"key": row.key.model_copy(update={"protocol": "paper"})}) for row in measured]
    text = render([*measured, *paper], "table", width=160)
    assert "profile strict" in text and "profile paper" in text
    assert text.count("correct turns, %") == 2


def test_a_narrow_table_keeps_its_numbers_whole(measured):
    text = render(measured, "table", width=80)
    for words in ("0.0 / 25.0 / 25.0", "(50.0 / 50.0 / 50.0)", "– / 0.976 / 0.976", "(1.250 / 1.250 / 1.250)", "gemm_n7168_k5120"):
        assert words in text
    assert f"{KEY.task}, {KEY.model}: 2 correct, 1 compile_error, 1 wrong_value" in text


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal(measured, width):
    assert max(map(len, render(measured, "table", width=width).splitlines())) <= width


def test_csv_has_one_line_per_row_and_limit(measured):
    lines = list(csv.DictReader(io.StringIO(render(measured, "csv"))))
    assert [line["k"] for line in lines] == ["1", "4", "8"]
    assert lines[2]["best_speedup"] == "1.25" and lines[2]["turn_correctness"] == "0.5" and lines[2]["task"] == KEY.task
    assert lines[0]["target_best_speedup"] == "" and lines[2]["baseline"] == "cuBLAS 13.1.0"


def test_markdown_is_one_table_per_comparable_group(measured):
    text = render(measured, "markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3 and len({line.count("|") for line in rows}) == 1
    assert "0.0 / 25.0 / 25.0<br>(50.0 / 50.0 / 50.0)" in text


@pytest.mark.parametrize("format", ["table", "json", "csv", "markdown"])
def test_an_empty_report_can_be_rendered(format):
    assert render([], format).endswith("\n")


@pytest.mark.parametrize("format", ["table", "json", "csv", "markdown"])
def test_turns_not_reached_are_rendered(format):
    rows = summarise([], {KEY: plan(not_reached=(NotReached(trajectory="plain-0", variant="plain", first=0),))})
    assert KEY.task in render(rows, format)


@pytest.mark.parametrize("field", ["protocol", "arch", "device", "language", "pack", "arm", "condition", "checkpoint", "harness"])
def test_every_part_of_a_key_that_makes_rows_comparable_parts_tables(measured, field):
    other = [row.model_copy(update={"key": row.key.model_copy(update={field: "x"})}) for row in measured]
    assert render([*measured, *other], "markdown").count("|---|") == 2 * render(measured, "markdown").count("|---|")


def test_csv_holds_the_intervals():
    outcomes = [[Outcome.CORRECT] * 2, [Outcome.TIMEOUT] * 2]
    turns = [turn(f"plain-{t}", n, outcome) for t, line in enumerate(outcomes) for n, outcome in enumerate(line)]
    (*_, line) = csv.DictReader(io.StringIO(render(summarise(turns), "csv")))
    assert (line["turn_correctness_ci95_low"], line["turn_correctness_ci95_high"]) == ("0.0", "1.0")


ODD = [
    "a|b",
    "x\\|y",
    "a,b;c",
    'say "hi"',
    "two\nlines\r\n",
    "[red]x[/red]",
    "<b>&amp;",
    "`*_[l](u)",
    "漢字 ü 🚀",
    "\x1b[31m\u202e",
    "=1+1",
    "",
]


@pytest.mark.parametrize("name", ODD)
def test_names_are_shown_as_they_are_and_break_nothing(name):
    key = KEY.model_copy(update={"model": f"m{name}", "task": f"t{name}", "pack": f"p{name}", "run": f"r{name}", "workload": name})
    rows = summarise([turn("plain-0", 0, Outcome.CORRECT, 1.0, "qualified", key=key)], {key: plan(trajectories=1, turns=1)})
    (line, *_) = csv.DictReader(io.StringIO(render(rows, "csv"), newline=""))
    assert (line["model"], line["task"], line["run"]) == (key.model, key.task, key.run)
    assert json.loads(render(rows, "json"))[0]["key"]["task"] == key.task
    markdown = render(rows, "markdown")
    cells = [re.split(r"(?<!\\)(?:\\\\)*\|", line) for line in markdown.splitlines() if line.startswith("|")]
    assert [len(line) for line in cells] == [9, 9, 9]
    assert not re.search(r"(?<!\\)(?:\\\\)*<(?!br>)", markdown)
    for text in (markdown, render(rows, "table", width=200)):
        assert all(c.isprintable() or c == "\n" for c in text)
    if name.isprintable():
        assert f"m{name}" in render(rows, "table", width=200)


def test_an_unknown_format_is_refused(measured):
    with pytest.raises(UsageError, match="latex"):
        render(measured, "latex")


def rows_with(*settings):
    """One row per set of settings, otherwise alike."""
    rows = []
    for number, one in enumerate(settings):
        key = KEY.model_copy(update={"run": f"run-{number}"})
        rows += summarise([turn("plain-0", 0, Outcome.CORRECT, 1.0, "qualified", key=key)], {key: plan(settings=one)})
    return rows


def test_another_feedback_or_turn_budget_makes_another_table():
    usual = {"feedback": "full", "turns": "8", "suite": "aaaa", "judge": "bbbb"}
    groups = comparable_groups(rows_with(usual, usual | {"feedback": "paper"}, usual | {"turns": "4"}, usual))
    assert [len(group) for group in groups] == [2, 1, 1]
    assert "feedback paper" in heading(groups[1]) and "turns 4" in heading(groups[2])


def rows_measured(*measured):
    """One row per set of what was measured, otherwise alike and without a device of its own."""
    rows = []
    for number, one in enumerate(measured):
        key = KEY.model_copy(update={"run": f"run-{number}", "device": None})
        rows += summarise([turn("plain-0", 0, Outcome.CORRECT, 1.0, "qualified", key=key)], {key: plan(**one)})
    return rows


@pytest.mark.parametrize(
    ("name", "one", "other", "words"),
    [
        ("device_name", "NVIDIA H200", "NVIDIA H100", "device NVIDIA H100"),
        ("proof_method", "cupti", "ncu", "proof method ncu"),
        ("baseline", "cuBLAS 13.1.0", "cuBLAS 13.2.0", "baseline cuBLAS 13.2.0"),
    ],
)
def test_what_was_measured_otherwise_makes_another_table_and_what_was_not_fits(name, one, other, words):
    groups = comparable_groups(rows_measured({name: None}, {name: one}, {name: other}, {name: one}))
    assert [[row.key.run for row in group] for group in groups] == [["run-0", "run-1", "run-3"], ["run-2"]]
    assert words in heading(groups[1]) and words not in heading(groups[0])
    assert str(one) in heading(groups[0])


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_another_judge_is_said_though_its_hash_is_not_shown(format):
    text = render(rows_with({"judge": "aaaa"}, {"judge": "bbbb"}), format, width=120)
    assert "not comparable" in text and "judge" in text and "aaaa" not in text
