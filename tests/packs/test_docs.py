"""The pack of docs/adding-a-pack.md is one, and passes the check."""

from __future__ import annotations

import re
from pathlib import Path

from ptxbench.packs import lock
from ptxbench.packs.check import check
from ptxbench.packs.loading import load
from ptxbench.packs.render import render

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-pack.md").read_text(encoding="utf-8")

FILES = {
    "toml": "manifest.toml",
    "cpp": "include/clock.cuh",
    "markdown": "contracts/clock-resolution.md",
    "text": "schedules/timed.md",
}
"""Label of a block of the page to the file that it is."""


def test_the_pack_of_the_page_passes_the_check(tmp_path):
    for label, name in FILES.items():
        (text,) = re.findall(rf"^```{label}\n(.*?)^```$", PAGE, re.M | re.S)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    library = load(tmp_path)
    lock.write(library, lock.compute(library))
    report = check(load(tmp_path), None)
    assert report.findings == () and report.wrappers == {"mine": 1}
    text = render(library, "mine", family="gemm", variant="timed").text
    assert "The global timer is coarse (should, documented)" in text and "A timed loop" in text
