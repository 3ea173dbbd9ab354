"""What was measured on a device and no data sheet states: latencies, costs, rates. Packs show it below the data sheet's figures."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptxbench.arch.devices import Figure

TABLE = Path(__file__).with_name("measured.toml")


@dataclass(frozen=True)
class Measurement:
    """One figure of one device of the device table."""

    device: str
    """Id in the device table: ``h200``."""
    name: str
    label: str
    """What a reader is told that it is."""
    figure: Figure


def parse(text: str) -> tuple[Measurement, ...]:
    """Return the measurements that a table's text holds, in its order."""
    return tuple(
        Measurement(row["device"], row["name"], row["label"], Figure(row["value"], row["unit"], row["source"]))
        for row in tomllib.loads(text).get("figure", ())
    )


@cache
def measured(device: str | None = None) -> tuple[Measurement, ...]:
    """Return what was measured on a device, in the table's order; for None, on all of them. Empty where nothing was."""
    return tuple(one for one in parse(TABLE.read_text(encoding="utf-8")) if device in (None, one.device))
