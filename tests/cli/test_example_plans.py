"""Plans in examples/plans can be run as they stand, and the inventory of the paper's tables and figures names nothing else."""

import re
from pathlib import Path

import pytest

from ptxbench.report.catalogue import FIGURES, TABLES

ROOT = Path(__file__).parents[2]
PLANS = sorted((ROOT / "examples" / "plans").glob("*.toml"))
INVENTORY = (ROOT / "docs" / "paper-inventory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.stem)
def test_a_plan_of_the_examples_passes_a_dry_run(ptxbench, plan):
    done = ptxbench("run", str(plan), "--dry-run")
    assert re.search(r"^\d+ cells, \d+ trajectories, \d+ turns \(0 done\)$", done.stdout, re.MULTILINE)
    assert "Nothing was asked." in done.stdout


def test_the_inventory_has_a_line_for_each_table_and_figure_of_the_paper():
    named = set(re.findall(r"^\| (Tables?|Figures?) ([\d, ]+) \|", INVENTORY, re.MULTILINE))
    numbers = {(word.rstrip("s"), int(number)) for word, listed in named for number in listed.split(",")}
    assert numbers == {("Table", n) for n in range(1, 13)} | {("Figure", n) for n in range(3, 15)}


def test_the_inventory_names_kinds_that_are_there_and_every_kind():
    for form, kinds in (("table", TABLES), ("figure", FIGURES)):
        known = {kind.name for kind in kinds}
        assert set(re.findall(rf"--{form} (\w+)", INVENTORY)) <= known
    words = set(re.findall(r"\w+", INVENTORY))
    assert {kind.name for kind in (*TABLES, *FIGURES)} <= words


def test_the_inventory_links_plans_that_are_there_and_every_plan():
    linked = set(re.findall(r"\.\./examples/plans/([\w-]+\.toml)", INVENTORY))
    assert linked == {plan.name for plan in PLANS}


def test_commands_in_the_plans_name_kinds_that_are_there():
    known = {"table": {kind.name for kind in TABLES}, "figure": {kind.name for kind in FIGURES}}
    for plan in PLANS:
        for form, name in re.findall(r"--(table|figure) (\w+)", plan.read_text(encoding="utf-8")):
            assert name in known[form], f"{plan.name}: --{form} {name}"
