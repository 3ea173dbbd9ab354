"""Every figure over many cells again, in plain Python over rows, as the definitions say it; and the fast one must equal it."""

import random
import statistics

import polars as pl
import pytest

from ptxbench.metrics.budgets import at_budgets
from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.by_turn import kernels_by_turn, outcomes_by_turn, reasoning_by_turn
from ptxbench.metrics.curves import fast_p_at, fast_p_curves
from ptxbench.metrics.effort import effort_of_trajectories, effort_to_first
from ptxbench.metrics.frame import KEY, TURN_COLUMNS, TurnFrame
from ptxbench.metrics.resources import resources_by_outcome
from ptxbench.metrics.trajectories import token_multiples, trajectories, trajectory_medians

OUTCOMES = ["correct"] * 7 + ["compile_error", "wrong_value", "timeout", "no_code", "other_error", "undecided", "not_reached"]
PROOFS = [None, "qualified", "qualified", "qualified", "not_executed", "absent", "unknown"]
SEEDS = range(40)


def maybe(draw, value, chance=0.1):
    return None if draw.random() < chance else value


def drawn_rows(draw):
    """Return rows of up to six cells: CPU ones, undecided ones, variants with and without names, lost and unreached turns."""
    rows = []
    for number in range(draw.randint(1, 6)):
        task = draw.choice(["gemm_n7168", "mha_bwd_d128", "mha_with_lse_d128", "cpu_softmax"])
        key = {"model": draw.choice("mn"), "arch": draw.choice(["sm_90a", "sm_90a", "cpu"]), "task": task, "workload": "w"}
        key |= {
            "device": "h200",
            "language": "cuda",
            "harness": draw.choice(["mini", "other"]),
            "protocol": "paper",
            "run": f"r{number}",
        }
        outcomes = ["undecided"] if draw.random() < 0.1 else OUTCOMES
        tokens_known = draw.random() < 0.7
        gated = draw.random() < 0.7
        for variant in draw.choice([[None], ["a"], ["a", "b"], ["a", "b", "c"]]):
            for trajectory in range(draw.randint(1, 4)):
                for turn in range(draw.randint(1, 10)):
                    if draw.random() < 0.05:
                        continue
                    known = tokens_known and draw.random() < 0.95
                    rows.append(
                        key
                        | {
                            "trajectory": f"{variant}-{trajectory}",
                            "variant": variant,
                            "turn": turn,
                            "outcome": draw.choice(outcomes),
                            "speedup": draw.choice(
                                [None, 0.25, 0.5, 0.5, 1.0, 2.0, draw.random(), 0.0, float("inf"), float("nan")]
                            ),
                            "proof": draw.choice(PROOFS),
                            "source_target": draw.choice([None, True, False]),
                            "input_tokens": draw.randint(0, 100) if known else None,
                            "output_tokens": draw.randint(0, 50) if known else None,
                            "reasoning_tokens": maybe(draw, draw.randint(0, 40)),
                            "cached_tokens": None,
                            "cost_usd": draw.choice([None, float("nan"), *[draw.randint(0, 64) / 64] * 40]),
                            "gpu_seconds": draw.randint(0, 64) / 16,
                            "model_seconds": None,
                            "gate_passed": draw.choice([None, True, False]) if gated else None,
                            "registers": maybe(draw, draw.randint(16, 255), 0.3),
                            "spill_bytes": maybe(draw, draw.choice([0, 0, 8, 64]), 0.3),
                            "occupancy_percent": maybe(draw, draw.randint(1, 100) / 2, 0.7),
                        }
                    )
    draw.shuffle(rows)
    return rows


class Oracle:
    """Rows by cell and by trajectory, with what each turn counts as."""

    def __init__(self, rows):
        self.cells = {}
        for row in rows:
            correct = row["outcome"] == "correct"
            target = row["arch"] != "cpu"
            speedup = row["speedup"]
            trusted = correct and speedup is not None and speedup == speedup and 0 < speedup < float("inf")
            if row["outcome"] == "not_reached":
                row |= {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "gpu_seconds": 0.0, "reasoning_tokens": None}
            elif row["cost_usd"] != row["cost_usd"]:
                row |= {"cost_usd": None}
            spent = None if row["input_tokens"] is None else row["input_tokens"] + row["output_tokens"]
            made = row | {
                "correct": correct,
                "qualified": correct and target and row["proof"] == "qualified",
                "s": speedup if trusted else None,
            }
            made |= {
                "unproven": correct and target and row["proof"] in (None, "unknown"),
                "tagged": correct and row["source_target"] is True,
            }
            made |= {"total_tokens": spent, "passed": correct and row["gate_passed"] is True, "target": target}
            self.cells.setdefault(row["run"], []).append(made)

    def paths(self, run):
        """Return a cell's trajectories, each in the order of its turns."""
        found = {}
        for row in sorted(self.cells[run], key=lambda row: (row["trajectory"], row["turn"])):
            found.setdefault(row["trajectory"], []).append(row)
        return found


def decided(rows):
    evaluated = [row for row in rows if row["outcome"] != "not_reached"]
    return any(row["outcome"] != "undecided" for row in evaluated) or (bool(rows) and not evaluated)


def speeds(rows, hit="correct"):
    return [row["s"] for row in rows if row[hit] and row["s"] is not None]


def close(value):
    return None if value is None else pytest.approx(value, abs=1e-12, rel=1e-12)


def median(values):
    return close(statistics.median(values)) if values else None


def whole(values):
    """Return the sum, None when a part is unknown."""
    values = list(values)
    return None if None in values else sum(values)


@pytest.fixture(params=SEEDS)
def pair(request):
    rows = drawn_rows(random.Random(request.param))
    frame = TurnFrame.from_flat(pl.DataFrame(rows, schema_overrides=dict(TURN_COLUMNS)))
    return frame, Oracle(rows)


def by_run(frame, figures):
    """Return figures as dictionaries, by run."""
    found = {}
    for row in frame.keyed(figures).to_dicts():
        found.setdefault(row["run"], []).append(row)
    return found


def test_numbers_at_a_limit(pair):
    frame, oracle = pair
    figures = by_run(frame, by_limit(frame, (1, 4, 8, 20)))
    assert set(figures) == set(oracle.cells)
    for run, rows in figures.items():
        assert [row["k"] for row in rows] == [1, 4, 8, 20]
        for row in rows:
            inside = [turn for turn in oracle.cells[run] if turn["turn"] < row["k"]]
            target = row["target"]
            correct, qualified = [t for t in inside if t["correct"]], [t for t in inside if t["qualified"]]
            assert row["n"] == len(inside)
            assert (row["correct"], row["qualified"]) == (len(correct), len(qualified))
            assert row["tagged"] == sum(t["tagged"] for t in inside)
            assert row["unknown_proofs"] == sum(t["unproven"] for t in inside)
            assert row["undecided"] == sum(t["outcome"] == "undecided" for t in inside)
            assert row["not_reached"] == sum(t["outcome"] == "not_reached" for t in inside)
            assert row["trajectories"] == len({t["trajectory"] for t in inside})
            for name in ("correct", "qualified", "tagged"):
                assert row[f"trajectories_{name}"] == len({t["trajectory"] for t in inside if t[name]})
            known = decided(inside)
            assert row["turn_correctness"] == (len(correct) / len(inside) if known else None)
            assert row["target_turn_correctness"] == (len(qualified) / len(inside) if known and target else None)
            assert row["best_speedup"] == max(speeds(inside), default=None)
            assert row["target_best_speedup"] == max(speeds(inside, "qualified"), default=None)
            assert row["median_speedup"] == median(speeds(inside))
            assert row["target_median_speedup"] == median(speeds(inside, "qualified"))


@pytest.mark.parametrize(("hits", "hit"), [("fast_p", "correct"), ("fast_p_inst", "qualified")])
def test_fast_p(pair, hits, hit):
    frame, oracle = pair
    curves = fast_p_curves(frame, hits)
    thresholds = [0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 7.0]
    read, steps = by_run(frame, fast_p_at(curves, thresholds)), by_run(frame, curves)
    for run, rows in oracle.cells.items():
        if not decided(rows) or (hit == "qualified" and not rows[0]["target"]):
            assert run not in steps and run not in read
            continue
        assert [row["p"] for row in steps[run]] == sorted({0.0, *speeds(rows, hit)})
        variants = {row["variant"] for row in rows}
        for points in (read[run], steps[run]):
            for row in points:
                each = []
                for variant in variants:
                    mine = [turn for turn in rows if turn["variant"] == variant]
                    each.append(sum(s > row["p"] for s in speeds(mine, hit)) / len(mine))
                assert row["mean"] == close(sum(each) / len(each))
                band = (None, None) if None in variants else (min(each), max(each))
                assert (row["min"], row["max"]) == band
        assert [row["p"] for row in read[run]] == thresholds


def test_outcomes_kernels_and_reasoning_by_turn(pair):
    frame, oracle = pair
    outcomes, kernels, reasoning = (by_run(frame, f(frame)) for f in (outcomes_by_turn, kernels_by_turn, reasoning_by_turn))
    for run, rows in oracle.cells.items():
        indices = sorted({row["turn"] for row in rows})
        assert [row["turn"] for row in kernels[run]] == [row["turn"] for row in reasoning[run]] == indices
        for index, kernel, tokens in zip(indices, kernels[run], reasoning[run], strict=True):
            there = [row for row in rows if row["turn"] == index]
            counts = {}
            for turn in there:
                counts[turn["outcome"]] = counts.get(turn["outcome"], 0) + 1
            found = {row["outcome"]: (row["turns"], row["share"]) for row in outcomes[run] if row["turn"] == index}
            assert found == {name: (count, count / len(there)) for name, count in counts.items()}
            assert kernel["n"] == tokens["n"] == len(there)
            assert [kernel[name] for name in ("correct", "qualified", "tagged")] == [
                sum(turn[name] for turn in there) for name in ("correct", "qualified", "tagged")
            ]
            named = sorted(turn["reasoning_tokens"] for turn in there if turn["reasoning_tokens"] is not None)
            assert (tokens["known"], tokens["median"]) == (len(named), median(named))
            assert tokens["mean"] == close(statistics.fmean(named) if named else None)
            for name, place in (("low", 0.25), ("high", 0.75)):
                at = place * (len(named) - 1)
                under = int(at)
                expected = named[under] + (named[min(under + 1, len(named) - 1)] - named[under]) * (at - under) if named else None
                assert tokens[name] == close(expected)


def test_trajectories_and_their_medians(pair):
    frame, oracle = pair
    paths = trajectories(frame)
    lines, medians = by_run(frame, paths), by_run(frame, trajectory_medians(paths))
    for run in oracle.cells:
        bests = {"best_speedup": [], "target_best_speedup": [], "total_tokens": [], "cost_usd": []}
        for line, (name, turns) in zip(lines[run], oracle.paths(run).items(), strict=True):
            assert (line["trajectory"], line["variant"], line["n"]) == (name, turns[0]["variant"], len(turns))
            for hit, column in (("correct", "best_speedup"), ("qualified", "target_best_speedup")):
                best = max(speeds(turns, hit), default=0.0)
                known = decided(turns) and (hit == "correct" or turns[0]["target"])
                assert line[column] == (best if known else None)
                bests[column] += [best] if known else []
            for column in ("input_tokens", "output_tokens", "reasoning_tokens", "total_tokens", "cost_usd", "gpu_seconds"):
                spent = whole(turn[column] for turn in turns if turn["outcome"] != "not_reached")
                assert line[column] == spent
                if column in bests and spent is not None:
                    bests[column].append(spent)
        (summary,) = medians[run]
        assert summary["trajectories"] == len(lines[run]) and summary["tokens_known"] == len(bests["total_tokens"])
        for column, values in bests.items():
            assert summary[f"median_{column}"] == median(values)


def test_token_multiples(pair):
    frame, oracle = pair
    multiples = by_run(frame, token_multiples(frame, pl.col("run") == "r0"))
    base = oracle.cells["r0"][0]

    def middle(run):
        totals = [whole(turn["total_tokens"] for turn in path) for path in oracle.paths(run).values()]
        totals = [total for total in totals if total is not None]
        return statistics.median(totals) if totals else None

    for run, rows in oracle.cells.items():
        same = run != "r0" and all(rows[0][name] == base[name] for name in ("model", "arch", "task"))
        assert (run in multiples) is same
        if same:
            mine, against = middle(run), middle("r0")
            assert multiples[run][0]["multiple"] == close(mine / against if mine is not None and against else None)


def test_success_within_a_budget(pair):
    frame, oracle = pair
    budgets = [0, 60, 150, 400, 10_000]
    figures = by_run(frame, at_budgets(frame, budgets))
    for run, rows in oracle.cells.items():
        assert [row["budget"] for row in figures[run]] == budgets
        for row in figures[run]:
            reached, unknown, told, bests = {"correct": 0, "qualified": 0}, 0, False, {"correct": [], "qualified": []}
            for turns in oracle.paths(run).values():
                spent, inside = 0, []
                for turn in turns:
                    spent = None if spent is None or turn["total_tokens"] is None else spent + turn["total_tokens"]
                    if spent is not None and spent <= row["budget"]:
                        inside.append(turn)
                unknown += spent is None
                told = told or turns[0]["total_tokens"] is not None
                for hit in reached:
                    reached[hit] += any(turn[hit] for turn in inside)
                    bests[hit].append(max(speeds(inside, hit), default=0.0))
            count = len(oracle.paths(run))
            known, target = decided(rows) and told, rows[0]["target"]
            assert (row["trajectories"], row["tokens_unknown"]) == (count, unknown)
            assert (row["trajectories_correct"], row["trajectories_qualified"]) == (reached["correct"], reached["qualified"])
            assert row["success"] == (reached["correct"] / count if known else None)
            assert row["target_success"] == (reached["qualified"] / count if known and target else None)
            assert row["median_best_speedup"] == (median(bests["correct"]) if known else None)
            assert row["median_target_best_speedup"] == (median(bests["qualified"]) if known and target else None)


def test_effort_to_the_first_success(pair):
    frame, oracle = pair
    lines, figures = by_run(frame, effort_of_trajectories(frame)), by_run(frame, effort_to_first(frame))
    goals = {"correct": "correct", "proven": "qualified", "gate_passing": "passed"}
    names = ("total_tokens", "gpu_seconds", "cost_usd")
    for run in oracle.cells:
        for goal, hit in goals.items():
            efforts = []
            for turns in oracle.paths(run).values():
                first = next((turn["turn"] for turn in turns if turn[hit]), None)
                until = [turn for turn in turns if first is None or turn["turn"] <= first]
                efforts.append({"first": first} | {name: whole(turn[name] for turn in until) for name in names})
            found = [{name: row[name] for name in ("first", *names)} for row in lines[run] if row["goal"] == goal]
            assert found == efforts
            (row,) = [row for row in figures[run] if row["goal"] == goal]
            hits = [effort for effort in efforts if effort["first"] is not None]
            asked = {"correct": True, "proven": oracle.cells[run][0]["target"]}
            put = asked.get(goal, any(turn["gate_passed"] is not None for turn in oracle.cells[run]))
            assert (row["trajectories"], row["reached"]) == (len(efforts), len(hits) if put else None)
            assert row["median_turn"] == median([effort["first"] for effort in hits])
            for name in names:
                taken = [effort[name] for effort in hits]
                assert row[f"median_{name}"] == (median(taken) if hits and None not in taken else None)
                spent = whole(effort[name] for effort in efforts)
                assert row[f"per_success_{name}"] == close(spent / len(hits) if hits and spent is not None else None)


def test_resources_by_outcome(pair):
    frame, oracle = pair
    figures = by_run(frame, resources_by_outcome(frame))
    directions = {"gemm_n7168": None, "cpu_softmax": None, "mha_bwd_d128": "backward", "mha_with_lse_d128": "forward"}
    columns = ("registers", "spill_bytes", "occupancy_percent")
    for run, rows in oracle.cells.items():
        built = [row for row in rows if any(row[name] is not None for name in columns)]
        assert {row["outcome"] for row in figures.get(run, [])} == {row["outcome"] for row in built}
        for row in figures.get(run, []):
            there = [turn for turn in built if turn["outcome"] == row["outcome"]]
            registers, spills, occupancy = ([turn[name] for turn in there if turn[name] is not None] for name in columns)
            assert row["direction"] == directions[row["task"]]
            assert row["turns"] == len(there)
            assert (row["registers_known"], row["spill_known"], row["occupancy_known"]) == tuple(
                map(len, (registers, spills, occupancy))
            )
            assert (row["median_registers"], row["max_registers"]) == (median(registers), max(registers, default=None))
            assert row["spilling"] == sum(spill > 0 for spill in spills)
            assert (row["median_spill_bytes"], row["max_spill_bytes"]) == (median(spills), max(spills, default=None))
            assert row["median_occupancy_percent"] == median(occupancy)


def test_a_flat_table_of_a_frame_makes_the_same_frame(pair):
    frame, oracle = pair
    again = TurnFrame.from_flat(frame.flat())
    assert again.turns.equals(frame.turns) and again.cells.equals(frame.cells)
    assert frame.turns.height == sum(map(len, oracle.cells.values()))
    assert frame.cells.select(KEY).equals(frame.cells.select(KEY).unique().sort(KEY))
