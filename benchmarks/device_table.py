"""Write the measured figures of the device table (``src/ptxbench/arch/measured.toml``) from an evidence bundle.

usage: python benchmarks/device_table.py BUNDLE.json [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ptxbench.arch.measured import TABLE, measured
from ptxbench.core.atomic import write_atomic
from ptxbench.packs.evidence import Bundle
from ptxbench.packs.measurements import left_out, table, updated


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the table is what the bundle gives")
    asked = parser.parse_args()
    bundle = Bundle.model_validate(json.loads(asked.bundle.read_text(encoding="utf-8")))
    text = table(updated(measured(), bundle))
    for one in left_out(bundle):
        sys.stderr.write(f"not in {asked.bundle.name}, so not in the table: {one.program}: {one.check}: {one.figure}\n")
    if asked.check:
        same = TABLE.read_text(encoding="utf-8") == text
        sys.stdout.write(f"{TABLE.name} is {'' if same else 'not '}what {asked.bundle.name} gives\n")
        return 0 if same else 1
    write_atomic(TABLE, text.encode())
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
