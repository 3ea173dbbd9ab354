"""What a page holds of its turns: everything where that fits, the best and the last turn of each trajectory otherwise."""

import base64
import json
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxbench.core.errors import StorageError, UsageError
from ptxbench.report.page import write_page
from ptxbench.report.page.details import EVERYTHING, SHORT, trajectory_details
from ptxbench.report.page.lines import LinePool
from ptxbench.report.page.packing import best_and_last, packed, trajectories
from ptxbench.report.page.runs import read_runs
from ptxbench.report.page.summary import cell_id

LINES = st.lists(st.sampled_from(["", "}", "a", "b", "int x;", "\r", "é"]), max_size=40).map("\n".join)


@given(st.lists(LINES, max_size=8))
def test_texts_come_back_from_their_pool_as_they_were(texts):
    pool = LinePool()
    ranges = [pool.add(text) for text in texts]
    assert [pool.text(one) for one in ranges] == texts


def test_a_text_that_is_nearly_another_takes_little_room():
    chance = random.Random(0)
    lines = [f"line {chance.random()}" for _ in range(1000)]
    pool = LinePool()
    pool.add("\n".join(lines))
    lines[500] = "another"
    ranges = pool.add("\n".join(lines))
    assert len(pool) == 1001 and len(ranges) == 6


def unpacked(text, place):
    part = base64.b85decode(text[place.start : place.start + place.length].translate(str.maketrans(".:,", "<>&")))
    return json.loads(zlib.decompress(part, -zlib.MAX_WBITS))


def test_every_source_and_feedback_comes_back_from_the_packed_text(folders):
    runs = read_runs(folders)
    everything = packed(runs)
    assert everything.whole
    for run in runs:
        for key, name, steps in trajectories(run):
            place = everything.places[cell_id(key), name]
            chunk = unpacked(everything.text, place)
            lines = chunk["pool"].split("\n")
            found = chunk["trajectories"][f"{cell_id(key)}/{name}"]
            wanted = trajectory_details(steps, run.store)
            for got, source in zip(found["sources"], wanted["sources"], strict=True):
                assert [text_of(lines, file["text"]) for file in got] == [file["text"] for file in source]
            for got, turn in zip(found["turns"], wanted["turns"], strict=True):
                assert text_of(lines, got["feedback"]) == turn["feedback"]
            assert place.turns == tuple(step.row.turn for step in steps)


def text_of(lines, ranges):
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return "\n".join(line for first, count in pairs for line in lines[first : first + count])


def test_packed_text_has_no_character_that_means_something_in_html(folders):
    assert not set(packed(read_runs(folders)).text) & set("<>&\"'/\\")


def test_a_small_budget_leaves_the_best_and_the_last_turn_with_their_sources(folders):
    runs = read_runs(folders)
    least = packed(runs, budget=1)
    assert not least.whole
    for run in runs:
        for key, name, steps in trajectories(run):
            kept = best_and_last(steps)
            place = least.places[cell_id(key), name]
            assert place.turns == tuple(step.row.turn for step in kept)
            turns = unpacked(least.text, place)["trajectories"][f"{cell_id(key)}/{name}"]["turns"]
            assert [turn["source"] is None for turn in turns] == [step.row.hashes.source is None for step in kept]


def test_the_best_turn_is_the_fastest_qualified_one_and_the_last_has_a_source(folders):
    for run in read_runs(folders):
        for _, _, steps in trajectories(run):
            kept = best_and_last(steps)
            qualified = [s for s in steps if s.row.outcome == "correct" and s.row.proof and s.row.proof.status == "qualified"]
            trusted = [step.row.trusted_speedup for step in qualified if step.row.trusted_speedup]
            if trusted:
                assert max(trusted) in [step.row.trusted_speedup for step in kept]
            with_source = [step for step in steps if step.row.hashes.source]
            assert kept[-1] is (with_source or steps)[-1]


def test_short_details_have_the_source_and_no_measurements(folders):
    (run,) = read_runs(folders[:1])
    _, _, steps = next(trajectories(run))
    short, whole = (trajectory_details(steps, run.store, extent) for extent in (SHORT, EVERYTHING))
    assert short["sources"] == whole["sources"]
    assert all("latency" not in (turn["evaluation"] or {}) and turn["reply"] is None for turn in short["turns"])
    assert any("latency" in (turn["evaluation"] or {}) for turn in whole["turns"])


def test_what_the_store_lost_or_holds_damaged_is_named_and_the_rest_is_shown(made, tmp_path):
    folder = made.make_run(tmp_path / "run", made.Shape(name="r", variants=("base",), trajectories=1, turns=3, seed=5))
    (run,) = read_runs([folder])
    _, _, steps = next(trajectories(run))
    lost, damaged = steps[0].feedback, next(step.row.hashes.evaluation for step in steps if step.row.hashes.evaluation)
    run.store.path(lost).unlink()
    run.store.path(damaged).write_bytes(b"{}")
    turns = trajectory_details(steps, run.store)["turns"]
    assert turns[0]["feedback"] is None and any(lost in line for line in turns[0]["lost"])
    assert any(damaged in line for turn in turns for line in turn["lost"])
    assert all(turn["reply"] for turn in turns)
    assert write_page([folder], tmp_path / "page.html").turns == 3


@pytest.mark.xdist_group("chromium")
def test_a_page_that_cannot_hold_all_says_where_the_rest_is_and_the_sidecar_has_it(tab, folders, tmp_path):
    html, side = tmp_path / "out" / "page.html", tmp_path / "out" / "turns of runs"
    written = write_page(folders, html, sidecar=side, budget=1)
    assert (written.whole, written.sidecar_pages) == (False, len(folders))
    page = tab.open(html)
    for step in ("Results", "Trajectories"):
        page.locator(f"table[aria-label='{step}'] a.row").first.click()
    page.locator("td", has_text="not in this file").first.click()
    page.locator("#elsewhere a").wait_for()
    number = page.locator("h1").inner_text()
    page.locator("#elsewhere a").click()
    page.locator("#feedback").wait_for()
    assert "/turns%20of%20runs/" in page.url
    assert page.locator("h1").inner_text() == number
    assert page.locator(".code li[data-file]").count() > 10


def test_a_page_that_holds_all_makes_no_sidecar(folders, tmp_path):
    written = write_page(folders, tmp_path / "page.html", sidecar=tmp_path / "side")
    assert written.whole and written.sidecar is None and not (tmp_path / "side").exists()


def test_folders_that_are_no_runs_are_refused(tmp_path, folders):
    with pytest.raises(UsageError, match="not a run directory"):
        write_page([tmp_path], tmp_path / "page.html")
    with pytest.raises(UsageError, match="named twice"):
        write_page([folders[0], folders[0]], tmp_path / "page.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        write_page(folders, tmp_path / "file" / "page.html")


def test_the_docs_quote_the_measured_page():
    root = Path(__file__).parents[3]
    figures = json.loads((root / "evidence" / "cpu" / "page-paint.json").read_text())["figures"]
    text = " ".join((root / "docs" / "page.md").read_text(encoding="utf-8").split())
    assert figures["page_mb"] < 15 and figures["results_drawn_slowest_ms"] < 2000 and figures["runs"] == 100
    for quoted in (
        f"one file of {figures['page_mb']} MB",
        f"first paint after {figures['first_paint_ms']} ms",
        f"all results drawn after {figures['results_drawn_ms']} ms",
        f"a turn opened {figures['turn_opened_ms']} ms after the click",
    ):
        assert quoted in text, quoted
