"""Put together what readers of a pack reached: the turns of their runs, and what they said of the text.

A reader writes kernels from the first prompt and the feedback alone; a run with ``--model replay/FILE`` judges what he wrote.
NOTES.json has ``{"turns": ["what was tried", …], "helped": […], "misled": […], "missing": […]}``; it may be ``-`` for none.

usage: python benchmarks/pack_readers.py OUT.json RUN NOTES.json [RUN NOTES.json …]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import evidence

KEPT = ("outcome", "speedup", "paired_speedup", "candidate_us", "reference_us", "flags")


def read(run: Path, notes: Path) -> dict[str, Any]:
    """Return one reader's trajectory."""
    manifest = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (cell,) = manifest["cells"]
    lines = map(json.loads, (run / "journal.jsonl").read_text(encoding="utf-8").splitlines())
    rows = sorted((line["row"] for line in lines if line["kind"] == "turn"), key=lambda row: row["turn"])
    said: dict[str, Any] = json.loads(notes.read_text(encoding="utf-8")) if str(notes) != "-" else {}
    tried = said.pop("turns", [None] * len(rows))
    best = max(rows, key=lambda row: row["speedup"] or 0.0)
    return {
        "task": cell["key"]["task"],
        "knowledge": cell["knowledge"],
        "baseline": cell["baseline"],
        "changes_accepted": len(manifest["accepted"]),
        "correct": sum(row["outcome"] == "correct" for row in rows),
        "qualified": sum((row["proof"] or {}).get("status") == "qualified" for row in rows),
        "best": {"turn": best["turn"], "speedup": best["speedup"], "paired_speedup": best["paired_speedup"]},
        "turns": [
            {
                "turn": row["turn"],
                **{name: row[name] for name in KEPT},
                "proof": (row["proof"] or {}).get("status"),
                "work_share": (row["proof"] or {}).get("work_share"),
                "source": row["hashes"]["source"],
                "tried": what,
            }
            for row, what in zip(rows, tried, strict=True)
        ],
        **said,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Put together what readers of a pack reached.")
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN NOTES")
    arguments = parser.parse_args()
    if len(arguments.runs) % 2:
        parser.error("each run needs its notes, or - for none")
    pairs = zip(arguments.runs[::2], arguments.runs[1::2], strict=True)
    evidence.write(arguments.out, {"readers": [read(run, notes) for run, notes in pairs]})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
