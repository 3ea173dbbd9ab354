"""Measured figures of the device table: a bundle gives the same entries each time, and the committed ones are what it gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench.arch import DEVICES, measured
from ptxbench.arch.measured import TABLE, parse
from ptxbench.core.errors import PackError
from ptxbench.packs.device_table import device_table
from ptxbench.packs.evidence import Bundle, FigureResult, read
from ptxbench.packs.loading import load
from ptxbench.packs.measurements import CHOSEN, left_out, measurements, table, updated

PROGRAMS = Path(__file__).parents[1] / "gpu" / "contracts"


def bundle(device: str = "NVIDIA H200", scale: float = 1.0, **missing: bool) -> Bundle:
    """Figures 10.123, 20.123, … in the order of the table; ``missing`` names figures that are left out."""
    figures = [
        FigureResult(
            program=one.program,
            contract="tma-load",
            check=one.check,
            figures={one.figure: scale * (10.0 * place + 0.123)},
            where="device",
        )
        for place, one in enumerate(CHOSEN, 1)
        if one.name not in missing
    ]
    return Bundle(
        device=device,
        capability="9.0",
        driver="580.1",
        cuda_driver=13000,
        cuda_runtime=13000,
        nvcc="13.0.88",
        commit=None,
        date="2026-11-29T23:00:00+00:00",
        headers={},
        programs={},
        faults={},
        checks=(),
        figures=tuple(figures),
    )


def test_what_is_written_is_read_again_with_three_digits_and_a_source():
    entries = measurements(bundle())
    assert parse(table(entries)) == entries
    first = entries[0]
    assert (first.device, first.figure.value, first.figure.unit) == ("h200", 10.1, "MHz")
    assert first.figure.source == "measured, latency.cu, 2026-11-29"


def test_a_new_bundle_replaces_its_device_and_keeps_the_others():
    old = (*measurements(bundle("NVIDIA H100 80GB HBM3")), *measurements(bundle()))
    new = updated(old, bundle(scale=2.0))
    assert [one.device for one in new] == ["h100"] * len(CHOSEN) + ["h200"] * len(CHOSEN)
    assert new[: len(CHOSEN)] == old[: len(CHOSEN)] and new[len(CHOSEN)].figure.value == 20.2
    assert updated(new, bundle(scale=2.0)) == new


def test_a_figure_that_was_not_taken_is_named():
    with pytest.raises(PackError, match="latency_cycles"):
        measurements(bundle(tma_latency=True))
    with pytest.raises(PackError, match=r"latency: .* is 0"):
        measurements(bundle(scale=0.0))


def test_a_figure_that_a_device_may_lack_is_left_out_and_told():
    """A bundle older than a figure has it not, and a size of cluster that is refused answers with its error, negative."""
    lacking = bundle(ex2=True, clusters_of_8=True)
    assert [one.name for one in left_out(lacking)] == ["clusters_of_8", "ex2"]
    assert [one.name for one in measurements(lacking)] == [one.name for one in CHOSEN if one.name not in ("clusters_of_8", "ex2")]
    assert left_out(bundle()) == ()
    assert left_out(bundle(scale=-1.0)) == tuple(one for one in CHOSEN if not one.required)


def test_labels_stand_alone():
    """A row that is left out takes no other's meaning with it."""
    labels = [one.label for one in CHOSEN]
    assert len(set(labels)) == len(labels) and not [label for label in labels if re.search(r"\b([Ss]ame|such|these)\b", label)]


def test_a_device_that_the_table_does_not_know_is_named():
    with pytest.raises(PackError, match="GeForce"):
        measurements(bundle("NVIDIA GeForce RTX 5090"))


@pytest.mark.parametrize("one", CHOSEN, ids=lambda one: one.name)
def test_every_chosen_figure_is_one_that_its_program_prints(one):
    source = (PROGRAMS / f"{one.program}.cu").read_text(encoding="utf-8")
    assert f'"{one.figure}"' in source
    words = re.split(r"\b\d+\b", one.check)  # numbers may be put in by the program
    assert all(part.strip(" ()") in source for part in words if len(part) > 8)


def test_the_committed_figures_are_what_the_committed_bundles_give():
    text = TABLE.read_text(encoding="utf-8")
    entries = measured()
    for found in read(load()).values():
        entries = updated(entries, found)
    assert table(entries) == text


def test_a_prompt_shows_what_was_measured_on_its_device_alone():
    for facts in DEVICES.values():
        shown = device_table(facts)
        sources = dict(re.findall(r"(?:Sources:|;) (\d+) ([^;\n]+?)(?=;|\.\n)", shown))
        told = {label: sources[number] for label, number in re.findall(r"^\| ([^|]+) \| [^|]+ \| (\d+) \|$", shown, re.M)}
        assert {label: source for label, source in told.items() if source.startswith("measured, ")} == {
            one.label: one.figure.source for one in measured(facts.id)
        }
        assert facts.l2_bytes.source == told["L2 cache"] and len(sources) == len(set(sources.values()))
