"""The page as people use it: in a browser, from a file."""

import re
from itertools import pairwise

import pytest

from ptxbench.report.page import write_page
from ptxbench.report.page.runs import read_runs
from ptxbench.report.page.summary import summary

pytestmark = pytest.mark.xdist_group("chromium")


@pytest.fixture(scope="module")
def data(folders):
    return summary(read_runs(folders))


@pytest.fixture(scope="module")
def cell(data):
    """The cell of the CUDA run."""
    return next(cell for cell in data["cells"] if cell["key"]["run"] == "cuda-run")


@pytest.fixture(scope="module")
def turn_with_a_past(cell, data):
    """Address of a turn that has a source, as has the turn before it."""
    for trajectory in cell["trajectories"]:
        turns = [turn for turn in trajectory["turns"] if turn[data["turn_columns"].index("source")]]
        for before, after in pairwise(turns):
            if after[0] == before[0] + 1:
                return f"#/cell/{cell['id']}/{trajectory['name']}/{after[0]}"
    raise AssertionError("no such turn was made")


def rows(page, label="Results"):
    return page.locator(f"table[aria-label='{label}'] tbody tr")


def test_it_opens_from_a_file_and_asks_for_nothing_else(tab, html):
    page = tab.open(html)
    assert page.locator("h1").inner_text() == "3 runs"
    assert rows(page).count() == 3
    assert tab.foreign(html) == []


def test_headers_name_the_baseline_with_its_version(tab, html):
    page = tab.open(html)
    assert any("baseline cuBLAS 13.1.0" in text for text in page.locator(".heading").all_inner_texts())


def test_each_figure_stands_beside_what_it_does_not_say(tab, html, cell, data):
    page = tab.open(html)
    headers = page.locator("table[aria-label='Results'] th.number").all_inner_texts()
    names = {text.split("\n")[0] for text in headers} - {"N"}
    told = {text.split("\n")[0] for text in headers if re.search("\nnot established: .{9}", text)}
    assert names == told and len(names) == 6
    page = tab.open(html, f"#/cell/{cell['id']}")
    for item in page.locator(".figures li").all():
        assert re.search("not established: .{9}", item.inner_text())


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("arch", "cpu", 1),
        ("task", "mha_forward", 1),
        ("model", "openai/a-model", 2),
        ("language", "triton", 1),
        ("variant", "short", 1),
    ],
)
def test_filters_leave_what_fits_and_stand_in_the_address(tab, html, name, value, left):
    page = tab.open(html)
    page.locator(f"#filter-{name}").select_option(value)
    assert rows(page).count() == left
    address = page.url.partition("#")[2]
    again = tab.open(html, f"#{address}")
    assert rows(again).count() == left
    again.locator("#filter-clear").click()
    assert rows(again).count() == 3


def test_the_text_filter_finds_any_part_of_a_name(tab, html):
    page = tab.open(html)
    page.locator("#filter-text").press_sequentially("TRITON-r")
    assert rows(page).count() == 1
    assert page.evaluate("document.activeElement.id") == "filter-text"
    page.locator("#filter-text").fill("nothing has this name")
    assert "Nothing fits" in page.locator(".notice").inner_text()


def test_a_variant_alone_has_its_own_figures(tab, html, cell, data):
    page = tab.open(html, f"#/cell/{cell['id']}?variant=short")
    at = cell["by_variant"]["short"]["at"]["8"]
    shown = page.locator(".figures li", has_text="correct turns").first.inner_text()
    assert f"{100 * at['turn_correctness']:.1f} %" in shown
    assert at["turns"] < cell["figures"]["at"]["8"]["turns"]


def test_columns_sort_both_ways_with_unknown_values_last(tab, html, cell):
    page = tab.open(html, f"#/cell/{cell['id']}")
    values = {}
    for direction in ("descending", "ascending"):
        page.locator("#sort-best").click()
        assert page.locator("th:has(#sort-best)").get_attribute("aria-sort") == direction
        texts = rows(page, "Trajectories").locator("td:nth-child(2)").all_inner_texts()
        known = [float(text.rstrip("×")) for text in texts if text != "–"]
        assert texts[len(known) :] == ["–"] * (len(texts) - len(known))
        values[direction] = known
    assert values["descending"] == sorted(values["descending"], reverse=True)
    assert values["ascending"] == sorted(values["descending"])
    assert page.evaluate("document.activeElement.id") == "sort-best"


def test_drilling_down_leads_from_a_run_to_a_turn(tab, html, cell, data):
    page = tab.open(html)
    page.locator("table[aria-label='Runs'] a", has_text="cuda-run").click()
    page.locator("h1", has_text="cuda-run").wait_for()
    assert rows(page).count() == 1
    rows(page).first.locator("a").click()
    page.locator("h1", has_text="openai/a-model on gemm_n7168_k5120").wait_for()
    name = cell["trajectories"][0]["name"]
    page.locator("a.row", has_text=name).click()
    page.locator("a.row", has_text="turn 0").click()
    page.locator("#feedback").wait_for()
    assert page.locator("nav ol").inner_text().split("\n") == [
        "All results",
        "cuda-run",
        "openai/a-model on gemm_n7168_k5120",
        name,
        "turn 0",
    ]
    page.go_back()
    page.locator("h1", has_text=f"trajectory {name}").wait_for()


def test_a_correct_turn_shows_source_feedback_samples_and_executed_counts(tab, html, cell, data):
    columns = data["turn_columns"]
    address = next(
        f"#/cell/{cell['id']}/{one['name']}/{turn[0]}"
        for one in cell["trajectories"]
        for turn in one["turns"]
        if data["outcomes"][turn[columns.index("outcome")]] == "correct"
        and data["proofs"][turn[columns.index("proof")]] == "qualified"
    )
    page = tab.open(html, address)
    page.locator("#feedback").wait_for()
    assert page.locator(".code .t-word").count() > 10
    assert page.locator(".code .t-comment").count() > 0
    assert page.locator(".chart.samples circle").count() == 200
    assert "14,680,064" in page.locator("table[aria-label='Executed instructions']").inner_text()
    assert "baseline cuBLAS 13.1.0" in page.locator("h2", has_text="Latency").inner_text()
    assert "not established" in page.locator("dl", has_text="work share").first.inner_text()


def test_a_diagnostic_leads_to_its_line(tab, html, cell, data):
    columns = data["turn_columns"]
    address = next(
        f"#/cell/{cell['id']}/{one['name']}/{turn[0]}"
        for one in cell["trajectories"]
        for turn in one["turns"]
        if data["outcomes"][turn[columns.index("outcome")]] == "compile_error"
    )
    page = tab.open(html, address)
    button = page.locator("#diagnostics button").first
    assert button.inner_text() == "kernel.cu:42"
    button.click()
    line = page.locator(".code li[data-n='42']")
    assert "marked" in line.get_attribute("class")
    assert line.get_attribute("title") == 'identifier "barrier_wait" is undefined'


def test_changes_since_the_turn_before_are_exact(tab, html, turn_with_a_past):
    page = tab.open(html, f"{turn_with_a_past}?show=diff")
    page.locator("#diff").wait_for()
    shown = page.locator("#diff li").evaluate_all(
        "lines => lines.map(line => [line.dataset.o.trim(), line.dataset.n.trim(), line.lastChild.textContent, line.className])"
    )
    page.locator("button", has_text="Source").first.click()
    page.locator(".code li[data-file]").first.wait_for()
    after = page.locator(".code li span:first-child").evaluate_all(
        "s => s.filter(x => x.parentNode.tagName === 'LI').map(x => x.textContent)"
    )
    number = int(turn_with_a_past.rpartition("/")[2])
    page = tab.open(html, f"{turn_with_a_past.rpartition('/')[0]}/{number - 1}")
    page.locator(".code li[data-file]").first.wait_for()
    before = page.locator(".code li span:first-child").evaluate_all(
        "s => s.filter(x => x.parentNode.tagName === 'LI').map(x => x.textContent)"
    )
    added = [(int(new) - 1, text) for old, new, text, _ in shown if new and not old]
    removed = [(int(old) - 1, text) for old, new, text, _ in shown if old and not new]
    assert added and removed
    assert all(after[place] == text for place, text in added) and all(before[place] == text for place, text in removed)
    kept_before = [line for place, line in enumerate(before) if place not in dict(removed)]
    kept_after = [line for place, line in enumerate(after) if place not in dict(added)]
    assert kept_before == kept_after


def test_a_deep_link_opens_a_turn_and_a_stale_one_says_so(tab, html, turn_with_a_past, cell):
    page = tab.open(html, turn_with_a_past)
    page.locator("#feedback").wait_for()
    for stale in ("#/cell/0000000000", f"#/cell/{cell['id']}/nobody-9", f"#/run/{'x' * 40}", "#/%zz/%"):
        page = tab.open(html, stale)
        assert page.locator("h1").inner_text() == "Not here"


def test_keys_walk_through_turns_rows_and_levels(tab, html, cell, turn_with_a_past):
    page = tab.open(html)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter-text"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.getAttribute('href')")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.getAttribute('href')") != second
    page.keyboard.press("Enter")
    page.wait_for_url("**/*#/cell/*")
    page = tab.open(html, turn_with_a_past)
    here = page.url
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("here => location.href !== here", arg=here)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("here => location.href === here", arg=here)
    page.locator("#feedback").wait_for()
    page.keyboard.press("d")
    page.locator("#diff").wait_for()
    page.keyboard.press("u")
    page.wait_for_function("here => location.hash === here", arg=turn_with_a_past.rpartition("/")[0])
    page.keyboard.press("/")
    assert page.evaluate("[location.hash, document.activeElement.id]") == ["#/", "filter-text"]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible() and "turn before" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()


def test_arrows_in_a_source_scroll_it_and_turn_no_page(tab, html, turn_with_a_past):
    page = tab.open(html, turn_with_a_past)
    page.locator(".code").first.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.locator("h1", has_text=f"Turn {turn_with_a_past.rpartition('/')[2]}:").wait_for()
    assert page.url.endswith(turn_with_a_past)


def test_the_curve_is_read_at_a_threshold_by_pointer_and_by_keys(tab, html, cell):
    page = tab.open(html, f"#/cell/{cell['id']}")
    curve = cell["figures"]["fast_p"]
    chart = page.locator("#curves")
    chart.focus()
    for _ in range(12):
        page.keyboard.press("PageDown")
    assert page.locator(".readout li").first.inner_text() == "p = 0.000"
    assert f"{100 * curve['mean'][0]:.1f} %" in page.locator(".readout button").first.inner_text()
    page.keyboard.press("PageUp")
    assert float(chart.get_attribute("aria-valuenow")) > 0
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + 40)
    assert " 0.0 %" in " " + page.locator(".readout button").first.inner_text()


def test_theme_is_the_systems_until_the_button_says_otherwise(new_tab, html):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page = new_tab(color_scheme="dark").open(html)
    assert page.evaluate(ground) == "rgb(20, 23, 28)"
    page.locator("#theme").click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.locator("#theme").click()
    assert page.evaluate(ground) == "rgb(20, 23, 28)"


@pytest.mark.parametrize(("width", "scheme"), [(375, "light"), (375, "dark"), (800, "light"), (1200, "dark")])
def test_every_view_fits_its_width(new_tab, html, cell, turn_with_a_past, width, scheme):
    tab = new_tab(viewport={"width": width, "height": 700}, color_scheme=scheme)
    trajectory = turn_with_a_past.rpartition("/")[0]
    views = ["#/", "#/run/cuda-run", f"#/cell/{cell['id']}", trajectory, turn_with_a_past, f"{turn_with_a_past}?show=diff"]
    for view in views:
        page = tab.open(html, view)
        if view.startswith(turn_with_a_past):
            page.locator("#feedback").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_a_run_that_inspect_played_says_how_to_see_its_transcripts(tab, made, tmp_path):
    folder = made.make_run(tmp_path / "played", made.Shape(name="played", variants=("v",), trajectories=1, turns=1))
    (folder / "inspect" / "logs").mkdir(parents=True)
    (folder / "inspect" / "logs" / "one.eval").write_bytes(b"")
    write_page([folder], tmp_path / "page.html")
    page = tab.open(tmp_path / "page.html", "#/run/played")
    assert page.locator("main code", has_text="inspect view").inner_text() == "inspect view --log-dir played/inspect/logs"
