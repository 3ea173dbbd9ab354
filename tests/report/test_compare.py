"""Comparing run directories: every key that forbids it, which cells belong together, what became of the same sources."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxbench.agent.engine.ledger import JOURNAL_NAME, EndStep, TurnStep
from ptxbench.agent.engine.manifest import AcceptedChange, Code, Environment, Imported, Manifest, ManifestCell
from ptxbench.agent.engine.places import Place
from ptxbench.agent.knowledge import PackUse
from ptxbench.app.comparing import compare_runs
from ptxbench.core.canonical import canonical_json
from ptxbench.core.errors import NotComparable, StorageError, UsageError
from ptxbench.core.store import ContentStore
from ptxbench.metrics import summarise
from ptxbench.report import load_runs
from ptxbench.report.compare import Comparison
from ptxbench.report.compare_keys import PROTOCOL_KEYS
from ptxbench.report.compare_text import comparison_text
from ptxbench.schema import CellKey, CorrectVerdict, Evaluation, Outcome, TokenCount, Turn, TurnHashes, TurnProof

GOLDEN = Path(__file__).parents[1] / "cli" / "golden" / "eval.json"
KEY = {"model": "m", "arch": "sm_90a", "device": "h200", "task": "gemm", "workload": "w", "language": "cuda", "protocol": "strict"}
CONFIG = {
    "variants": ["base"],
    "trajectories": 6,
    "turns": 2,
    "feedback": "full",
    "history": "full",
    "target_speedup": None,
    "sampling": {"temperature": 0.5, "seed": 1},
    "seed": 0,
}
HOPPER = PackUse(pack="hopper", arm="contracts", version="sha256:1", device="h200", family=None, texts={"base": "sha256:2"})


def evaluation(device="NVIDIA H200", reference="13.1.0", method="cupti"):
    """Return a real record that says where and how a cell was measured."""
    record = json.loads(GOLDEN.read_text(encoding="utf-8"))
    kept = ("schema_version", "protocol_version", "profile", "backend", "task", "workload", "axes", "arch", "outcome", "blame")
    kept += ("undecided", "correct", "latency", "proof", "flags", "hashes", "seed", "seconds", "device")
    record = {name: None for name in Evaluation.model_fields if name in record} | {name: record[name] for name in kept}
    record |= {"simulated": False, "flags": []}
    record["device"]["name"] = device
    record["latency"]["reference"] = {"library": "cuBLAS", "version": reference}
    record["proof"] |= {"method": method, "kernels": []}
    return Evaluation.model_validate(record, strict=False)


def write_run(
    folder, verdicts=("10", "11", "01", "10", "11", "01"), *, run=None, cells=({},), config=None, judged=None, **manifest
):
    """Write a run directory: per trajectory a text with a turn's verdict at each place.

    1 is correct and proven, a correct without target instructions, u correct and unproven, 0 wrong, ? undecided.

    ``cells``: what each cell's key has of its own, and ``knowledge``. ``judged``: what the evaluations say.
    """
    folder.mkdir(parents=True)
    name = run or folder.name
    config = CONFIG | {"trajectories": len(verdicts)} | (config or {})
    store = ContentStore(folder / "store")
    digest = store.put(canonical_json(judged or evaluation()))
    store.sync()
    made, lines = [], []
    for number, own in enumerate(cells):
        known = own.get("knowledge")
        key = CellKey(**KEY | {name: value for name, value in own.items() if name != "knowledge"} | {"run": name})
        made.append(ManifestCell(key=key, task_hash=f"sha256:task{number}", variants=("base",), knowledge=known))
        for trajectory, text in enumerate(verdicts):
            place = Place(task=key.task, workload=key.workload, arch=key.arch, variant="base", number=trajectory)
            steps = [
                TurnStep(place=place, row=turn_row(key, trajectory, at, mark, digest), feedback=None)
                for at, mark in enumerate(text)
            ]
            lines += steps
            if len(text) < config["turns"]:
                lines.append(EndStep(place=place, turn=len(text), reason="context_overflow"))
    (folder / JOURNAL_NAME).write_bytes(b"".join(canonical_json(step) + b"\n" for step in lines))
    fields = {
        "run": name,
        "created": "2026-01-01T00:00:00+00:00",
        "code": Code(version="0.1", templates="sha256:t", agent="sha256:a", judge="sha256:j", numpy="2.0"),
        "environment": Environment(python="3.12", platform="Linux"),
        "model": KEY["model"],
        "model_facts": {},
        "suite": "sha256:s",
        "config": config,
        "cells": tuple(made),
    }
    Manifest(**fields | manifest).write(folder)
    return folder


def turn_row(key, trajectory, turn, mark, digest):
    correct = {"1": True, "a": True, "u": True, "0": False, "?": None}[mark]
    proofs = {
        "1": TurnProof(status="qualified", compute=True, data_movement=True, work_share=1.0),
        "a": TurnProof(status="absent", compute=False, data_movement=False, work_share=0.0),
        "u": TurnProof(status="unknown", compute=None, data_movement=None, work_share=None),
    }
    outcome = None if correct is None else Outcome.CORRECT if correct else Outcome.WRONG_VALUE
    return Turn(
        key=key,
        variant="base",
        trajectory=f"base-{trajectory}",
        turn=turn,
        outcome=outcome,
        undecided="no GPU" if correct is None else None,
        blame=None,
        correct=CorrectVerdict(paper=correct, strict=correct, reasons=()),
        speedup=1.0 + 0.1 * trajectory if correct else None,
        candidate_us=1.0 if correct else None,
        reference_us=1.0 if correct else None,
        proof=proofs.get(mark),
        hashes=TurnHashes(prompt="p", reply="r", source=f"s{trajectory}.{turn}", evaluation=digest, task="t"),
        tokens=TokenCount(input=100, output=10 * trajectory),
        cost_usd=None,
        seconds={},
    )


def accepted(now):
    return (AcceptedChange(field="code.judge", was="sha256:j", now=now, turns_done=3, at="2026-01-01T00:00:00+00:00"),)


def code(**own):
    return Code(**{"version": "0.1", "templates": "sha256:t", "agent": "sha256:a", "judge": "sha256:j", "numpy": "2.0"} | own)


CHANGES = {
    "origin": (
        {"imported": Imported(form="published", table="t.csv", sha256="sha256:0", rows=1, baseline="cuBLAS 13.1.0")},
        "imported",
    ),
    "protocol": ({"protocol_version": "0"}, "0"),
    "profile": ({"cells": [{"protocol": "paper"}]}, "paper"),
    "feedback": ({"config": {"profile_feedback": True}}, "full with counters"),
    "history": ({"config": {"history": "latest"}}, "latest"),
    "stop rule": ({"config": {"target_speedup": 1.5}}, "speedup 1.5"),
    "turn budget": ({"config": {"turns": 4}}, "4"),
    "language": ({"cells": [{"language": "triton"}]}, "triton"),
    "pack": ({"cells": [{"pack": "hopper"}]}, "hopper"),
    "pack arm": ({"cells": [{"arm": "wrappers"}]}, "wrappers"),
    "pack version": ({"cells": [{"knowledge": HOPPER}]}, "sha256:1"),
    "condition": ({"cells": [{"condition": "guidance:g"}]}, "guidance:g"),
    "harness": ({"cells": [{"harness": "other"}]}, "other"),
    "sampling": ({"config": {"sampling": {"temperature": 1.0}}}, "temperature 1.0"),
    "proof method": ({"judged": evaluation(method="ncu")}, "ncu"),
    "device": ({"cells": [{"device": "h100"}]}, "h100"),
    "device name": ({"judged": evaluation(device="NVIDIA H200 NVL")}, "NVIDIA H200 NVL"),
    "reference": ({"judged": evaluation(reference="13.2.0")}, "cuBLAS 13.2.0"),
    "suite": ({"suite": "sha256:other"}, "sha256:other"),
    "judge": ({"code": code(judge="sha256:other")}, "sha256:other"),
    "judge numpy": ({"code": code(numpy="2.1")}, "2.1"),
    "mixed versions": ({"accepted": accepted("sha256:k")}, "code.judge after turn 3: sha256:j then sha256:k"),
}


def test_every_key_of_the_protocol_is_tried_here():
    assert set(CHANGES) == set(PROTOCOL_KEYS)


@pytest.mark.parametrize("key", CHANGES)
def test_a_key_that_differs_forbids_the_comparison_and_is_named_with_both_values(tmp_path, key):
    change, value = CHANGES[key]
    first, second = write_run(tmp_path / "first"), write_run(tmp_path / "second", **change)
    with pytest.raises(NotComparable) as refused:
        compare_runs(first, second)
    (told,) = [each for each in refused.value.details["incomparable"] if each["key"] == key]
    assert told["tasks"] == ["gemm@w"] and told["second"].startswith(value) and told["first"] and told["first"] != told["second"]
    assert f"{key}: {told['first']} and {told['second']}" in refused.value.message
    assert key == "origin" or len(refused.value.details["incomparable"]) == 1

    forced = compare_runs(first, second, force=True)
    assert (forced.forced, forced.comparable) == (True, False) and key in {each.key for each in forced.incomparable}
    text = comparison_text(forced, width=140)
    assert "NOT COMPARABLE (protocol section 9), compared because of --force" in text and f"  {key}: " in text


@pytest.mark.parametrize("key", sorted(set(CHANGES) - {"origin"}))
def test_a_key_that_the_comparison_is_about_may_differ(tmp_path, key):
    first, second = write_run(tmp_path / "first"), write_run(tmp_path / "second", **CHANGES[key][0])
    found = compare_runs(first, second, across=[key])
    assert found.comparable and not found.forced and [each.asked for each in found.incomparable] == [True]
    assert "Compared across:" in comparison_text(found, width=140)


def test_a_name_stands_for_all_that_begins_with_it(tmp_path):
    bare = write_run(tmp_path / "bare")
    packed = write_run(tmp_path / "packed", cells=[{"pack": "hopper", "arm": "contracts", "knowledge": HOPPER}])
    found = compare_runs(bare, packed, across=["pack"])
    assert {each.key for each in found.incomparable} == {"pack", "pack arm", "pack version"} and found.comparable
    with pytest.raises(NotComparable, match="pack version"):
        compare_runs(bare, packed, across=["pack arm"])


def test_a_name_that_is_no_key_is_refused(tmp_path):
    run = write_run(tmp_path / "r")
    with pytest.raises(UsageError, match="--across packs: no key of that name"):
        compare_runs(run, run, across=["packs"])


def test_what_section_9_leaves_free_is_told_and_forbids_nothing(tmp_path):
    first = write_run(tmp_path / "first")
    second = write_run(
        tmp_path / "second",
        cells=[{"model": "n"}],
        code=code(templates="sha256:u"),
        config={"sampling": {"temperature": 0.5, "seed": 9}},
    )
    found = compare_runs(first, second)
    assert {each.key for each in found.beside} == {"model", "prompt templates"} and found.comparable
    assert "model: m and n" in comparison_text(found, width=140)


def test_what_a_run_does_not_record_is_told_and_forbids_nothing(tmp_path):
    first, second = write_run(tmp_path / "first"), write_run(tmp_path / "second", ("00", "00", "00", "00"), code=code(judge=None))
    found = compare_runs(first, second)
    assert found.comparable and found.not_recorded == ("proof method", "judge")
    assert "Not known of both, so perhaps not equal:" in comparison_text(found, width=140)


VERDICTS = st.lists(st.text("10?", min_size=0, max_size=2), min_size=1, max_size=8)


@settings(deadline=None, max_examples=15)
@given(verdicts=VERDICTS)
def test_a_run_does_not_differ_from_itself(tmp_path_factory, verdicts):
    run = write_run(tmp_path_factory.mktemp("runs") / "r", verdicts)
    found = compare_runs(run, run)
    assert found.exceeding == 0 and found.comparable and not found.incomparable and not found.beside
    assert not any(each.difference for cell in found.tasks for each in cell.differences)
    assert not any(cell.same_sources.changed for cell in found.tasks)
    comparison_text(found, width=100)


@settings(deadline=None, max_examples=15)
@given(first=VERDICTS, second=VERDICTS)
def test_exchanging_two_runs_turns_the_signs(tmp_path_factory, first, second):
    folder = tmp_path_factory.mktemp("runs")
    runs = write_run(folder / "first", first), write_run(folder / "second", second)
    there, back = compare_runs(*runs), compare_runs(*reversed(runs))
    assert (there.judged, there.exceeding) == (back.judged, back.exceeding)
    for one, other in zip(there.tasks[0].differences, back.tasks[0].differences, strict=True):
        assert one.difference == (None if other.difference is None else -other.difference)
        assert (one.low, one.exceeds_noise) == (None if other.high is None else -other.high, other.exceeds_noise)


@settings(deadline=None, max_examples=15)
@given(verdicts=VERDICTS)
def test_figures_are_those_of_the_report(tmp_path_factory, verdicts):
    run = write_run(tmp_path_factory.mktemp("runs") / "r", verdicts)
    table = load_runs([run])
    (row,) = summarise(table.turns, table.planned)
    found = {(each.metric.name, each.metric.k): each.first for each in compare_runs(run, run).tasks[0].differences}
    at = row.at["8"]
    assert found["turn_correctness", 8] == at.turn_correctness
    assert found["target_turn_correctness", 8] == at.target_turn_correctness
    assert (found["best_speedup", 8] or 0.0) == (at.best_speedup or 0.0)


def test_cells_that_agree_in_most_belong_together_and_the_rest_is_named(tmp_path):
    arms = [{"pack": "hopper", "arm": arm} for arm in ("wrappers", "contracts")]
    first = write_run(tmp_path / "first", cells=[*arms, {"task": "only"}])
    second = write_run(tmp_path / "second", cells=[*reversed(arms), {"task": "mine"}])
    found = compare_runs(first, second)
    assert [(cell.first.arm, cell.second.arm) for cell in found.tasks] == [("wrappers",) * 2, ("contracts",) * 2]
    assert [key.task for key in found.only_first] == ["only"] and [key.task for key in found.only_second] == ["mine"]
    assert len(found.overall) == len(found.tasks[0].differences)
    text = comparison_text(found, width=140)
    assert "Only in the first: only@w" in text and "mean over 2 pairs of cells" in text


def test_arms_find_their_like_on_another_device_or_with_another_model(tmp_path):
    arms = [{"pack": "hopper", "arm": arm} for arm in ("wrappers", "contracts")]
    first = write_run(tmp_path / "first", cells=arms)
    second = write_run(tmp_path / "second", cells=[arm | {"device": "h100", "model": "n"} for arm in arms])
    found = compare_runs(first, second, across=["device"])
    assert [(cell.first.arm, cell.second.arm) for cell in found.tasks] == [("wrappers",) * 2, ("contracts",) * 2]
    assert {(each.key, each.tasks) for each in found.incomparable} == {("device", ("gemm@w",))}


def test_cells_that_nothing_tells_apart_have_no_partner(tmp_path):
    for number in (1, 2):
        write_run(tmp_path / "twice" / f"r{number}")
    write_run(tmp_path / "other")
    with pytest.raises(UsageError, match="no cell that belongs to one of the other"):
        compare_runs(tmp_path / "twice", tmp_path / "other")


def test_comparing_needs_no_extra():
    command = "import sys; sys.modules['polars'] = None; import ptxbench.app.comparing, ptxbench.report.compare_text"
    subprocess.run([sys.executable, "-c", command], check=True, timeout=60)


def test_runs_without_a_common_task_are_refused(tmp_path):
    first, second = write_run(tmp_path / "first"), write_run(tmp_path / "second", cells=[{"task": "other"}])
    with pytest.raises(UsageError, match="no cell that belongs to one of the other: gemm@w on sm_90a against other@w"):
        compare_runs(first, second)


def test_a_folder_of_runs_is_compared_with_another(tmp_path):
    for side in ("one", "two"):
        for task in ("a", "b"):
            write_run(tmp_path / side / task, cells=[{"task": task}], run=f"{side}-{task}")
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert [cell.first.task for cell in found.tasks] == ["a", "b"] and found.first.runs == ("one-a", "one-b")


def test_a_verdict_that_changed_on_the_same_source_is_listed(tmp_path):
    first = write_run(tmp_path / "first", ("10", "11", "01", "00"))
    second = write_run(tmp_path / "second", ("10", "10", "01", "0?"), code=code(judge="sha256:new"))
    found = compare_runs(first, second, across=["judge"])
    same = found.tasks[0].same_sources
    assert (same.turns, same.timed, same.speedup_ratio) == (8, 3, 1.0)
    assert [(each.trajectory, each.turn, each.first, each.second) for each in same.changed] == [
        ("base-1", 1, "correct, proof qualified", "wrong_value"),
        ("base-3", 1, "wrong_value", "undecided"),
    ]
    text = comparison_text(found, width=140)
    assert "8 turns with the same source: 2 verdicts differ" in text
    assert "base-1 turn 1: correct, proof qualified -> wrong_value" in text and "0 and 1 turns are undecided" in text


def shown(found, label):
    """What both sides show of a metric in the text, at a width that has every column."""
    lines = [line for line in comparison_text(found, width=160).splitlines() if label in line]
    return [[part.strip() for part in line.strip("│┃ ").split("│")][1:3] for line in lines]


def test_figures_that_unknown_turns_could_raise_are_lower_bounds_or_unknown(tmp_path):
    first = write_run(tmp_path / "first", ("10", "11", "01", "0?"))
    second = write_run(tmp_path / "second", ("1u", "u0", "uu", "00"))
    nobody = write_run(tmp_path / "nobody", ("0u", "u0", "uu", "00"))
    found = compare_runs(first, second)
    assert shown(found, "correct turns")[0] == ["≥ 50.0 %", "62.5 %"]
    assert shown(found, "… target executed ≤8")[0] == ["≥ 50.0 %", "≥ 12.5 %"]
    assert shown(found, "Fast_p^Inst")[0][0].startswith("≥ ")
    found = compare_runs(first, nobody)
    assert shown(found, "… target executed ≤8")[0] == ["≥ 50.0 %", "unknown"]


@pytest.mark.parametrize("turns", [8, 9])
def test_runs_of_more_than_eight_turns_say_what_fast_p_is_of(tmp_path, turns):
    run = write_run(tmp_path / "r", ("1" * turns,) * 2, config={"turns": turns})
    text = comparison_text(compare_runs(run, run), width=140)
    assert (f"Fast_p and tokens are of all turns, up to {turns} of a trajectory" in text) is (turns > 8)


@pytest.mark.parametrize(("verdicts", "method"), [(("0u", "a1"), "ncu"), (("a0", "ua"), "ncu"), (("0u", "u0"), None)])
def test_the_proof_method_is_that_of_any_turn_that_was_proven(tmp_path, verdicts, method):
    (plan,) = load_runs([write_run(tmp_path / "r", verdicts, judged=evaluation(method="ncu"))]).planned.values()
    assert plan.proof_method == method
    static = write_run(tmp_path / "static", verdicts, judged=evaluation(method="static"))
    assert [each.proof_method for each in load_runs([static]).planned.values()] == [None]


def test_too_few_trajectories_tell_nothing(tmp_path):
    first, second = write_run(tmp_path / "first", ("00",)), write_run(tmp_path / "second", ("11",))
    found = compare_runs(first, second)
    assert not found.tells and found.expected_by_chance == 0.0
    assert "Nothing can be told from noise" in comparison_text(found, width=140)


def test_the_record_reads_itself_again(tmp_path):
    found = compare_runs(write_run(tmp_path / "first"), write_run(tmp_path / "second", ("00",) * 6))
    assert Comparison.model_validate_json(found.model_dump_json()) == found


def test_another_seed_draws_other_resamples(tmp_path):
    first, second = write_run(tmp_path / "first"), write_run(tmp_path / "second", ("00", "01", "00", "11", "10", "00"))
    shares = {compare_runs(first, second, seed=seed).tasks[0].differences[0].by_chance for seed in range(4)}
    assert len(shares) > 1


def test_a_store_that_lost_an_evaluation_is_an_error(tmp_path):
    run = write_run(tmp_path / "r")
    for path in (run / "store").rglob("*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(StorageError, match="has lost"):
        compare_runs(run, run)
