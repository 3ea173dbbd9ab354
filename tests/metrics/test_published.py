"""On the published turns our numbers are the published ones, where the definitions agree."""

import csv
from collections import defaultdict

from ptxbench.metrics import summarise

OUTCOMES = {
    "Correct": "correct",
    "Numerical error": "wrong_value",
    "Compilation error": "compile_error",
    "Runtime error": "runtime_error",
    "Kernel Execution Timeout": "timeout",
    "Extraction error": "no_code",
}


def test_best_speedups_and_successful_trajectories_equal_the_published_ones(shared_data, make_turn):
    folder = shared_data / "published"
    published = {}
    for name, value in (("best_speedup", "best_speedup"), ("correctness_rate", "correct")):
        with (folder / f"{name}_by_release_date.csv").open() as stream:
            for line in csv.DictReader(stream):
                published.setdefault((line["run"], line["turn_limit"]), {})[value] = float(line[value])
    turns = defaultdict(list)
    with (folder / "turns.csv").open() as stream:
        for line in csv.DictReader(stream):
            key = make_turn.key.model_copy(update={"model": line["model"], "task": line["definition"], "run": line["run"]})
            outcome = OUTCOMES.get(line["outcome"], "runtime_error")
            speedup = float(line["speedup"]) if outcome == "correct" else None
            turns[line["run"]].append(make_turn(line["trajectory"], int(line["turn"]), outcome, speedup, key=key, variant=None))
    checked = 0
    for run, members in turns.items():
        (row,) = summarise(members)
        for k, at in row.at.items():
            expected = published[run, k]
            assert float(f"{at.best_speedup or 0.0:.9g}") == expected["best_speedup"]
            assert at.trajectories_with_success == expected["correct"]
            checked += 1
    assert checked == len(published) > 0
