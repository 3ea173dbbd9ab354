"""What the page of 100 runs x 96 turns takes: seconds to write, megabytes, and milliseconds until a browser shows it.

    python benchmarks/page_paint.py OUT.json [--runs 100] [--keep DIR]

The runs are made up (``made_runs``): 12 trajectories of 8 turns each, with sources of 9 to 49 KB. The page is opened from its file
in headless Chromium, a new one each time. ``first paint`` is the browser's own first-contentful-paint, ``results drawn`` the frame
with the table and the curves of all runs, ``turn opened`` what it takes from a click to a turn's source on the screen.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from evidence import write
from made_runs import Shape, make_run
from ptxbench.report.page import write_page

OPENINGS = 7
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TASKS = ("gemm_n7168_k5120", "mha_forward", "mha_backward")

PAINTED = """async () => {
  const seen = (name) => performance.getEntriesByName(name)[0]?.startTime;
  const whole = () => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (!seen("first-contentful-paint") || !seen("drawn") || !whole()) await frame();
  return [seen("first-contentful-paint"), seen("drawn"), whole()];
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the page of many runs.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="keep the page here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        runs = [made(root, number) for number in range(asked.runs)]
        html = root / "results.html"
        started = time.perf_counter()
        written = write_page(runs, html)
        took = time.perf_counter() - started
        figures: dict[str, Any] = {
            "runs": written.runs,
            "turns": written.turns,
            "every_turn_embedded": written.whole,
            "page_mb": round(written.size_bytes / 1e6, 2),
            "write_s": round(took, 1),
            **opened(html),
        }
        if asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(html, asked.keep / html.name)
    write(asked.out, figures)


def made(root: Path, number: int) -> Path:
    """Return a run of 96 turns."""
    task = TASKS[number % len(TASKS)]
    return make_run(
        root / f"run-{number:03d}", Shape(name=f"run-{number:03d}", model=f"openai/model-{number % 10}", task=task, seed=number)
    )


def opened(html: Path) -> dict[str, Any]:
    """Return medians over fresh browsers, in milliseconds from the start of the navigation."""
    from playwright.sync_api import sync_playwright

    paints, draws, loads, turns = [], [], [], []
    with sync_playwright() as running:
        for _ in range(OPENINGS):
            browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page()
            page.goto(html.as_uri(), wait_until="commit")
            page.locator("table[aria-label='Results'] a.row").first.wait_for()
            paint, drawn, loaded = page.evaluate(PAINTED)
            paints.append(paint)
            draws.append(drawn)
            loads.append(loaded)
            page.locator("table[aria-label='Results'] a.row").first.click()
            page.locator("table[aria-label='Trajectories'] a.row").first.click()
            started = time.perf_counter()
            page.locator("td", has_text="here").first.click()
            page.locator(".code li[data-file]").first.wait_for()
            turns.append((time.perf_counter() - started) * 1e3)
            version = browser.version
            browser.close()
    return {
        "chromium": version.partition(".")[0],
        "openings": OPENINGS,
        "first_paint_ms": round(statistics.median(paints)),
        "results_drawn_ms": round(statistics.median(draws)),
        "results_drawn_slowest_ms": round(max(draws)),
        "whole_document_ms": round(statistics.median(loads)),
        "turn_opened_ms": round(statistics.median(turns)),
    }


if __name__ == "__main__":
    main()
