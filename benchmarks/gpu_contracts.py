"""Run every contract program on this machine's GPU and write what it showed: the evidence that packs refer to.

The bundle is package data (``src/ptxbench/packs/data/evidence/h200.json``) once it was looked at; ``packs check`` reads it.

usage: python benchmarks/gpu_contracts.py OUT.json [--only PROGRAM …]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import evidence
from ptxbench.core.atomic import write_atomic
from ptxbench.core.settings import Settings
from ptxbench.evaluate.gpu import visible_gpus
from ptxbench.packs.evidence import Bundle, code_hash, header_hashes
from ptxbench.packs.loading import load
from ptxbench.packs.programs import ARCH, Answers, build_all, found, run, sources
from ptxbench.toolchain import locate

PROGRAMS = evidence.ROOT / "tests" / "gpu" / "contracts"


def bundled(answers: list[Answers], faults: dict[str, str], programs: list[Path], driver: str | None, nvcc: str) -> Bundle:
    """Return all answers as one record. Raises ``ValueError`` when no program said where it ran."""
    devices = [one.device for one in answers if one.device is not None]
    if not devices:
        raise ValueError(f"no program ran on a device: {faults}")
    files = sorted({path for program in programs for path in sources(program)})
    return Bundle(
        device=devices[0].device,
        capability=devices[0].capability,
        driver=driver,
        cuda_driver=devices[0].cuda_driver,
        cuda_runtime=devices[0].cuda_runtime,
        nvcc=nvcc,
        commit=evidence.commit(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        headers=header_hashes(load()),
        programs={path.name: code_hash(path.read_text(encoding="utf-8")) for path in files},
        faults=faults,
        checks=tuple(check for one in answers for check in one.checks),
        figures=tuple(figure for one in answers for figure in one.figures),
    )


def table(bundle: Bundle, seconds: dict[str, float]) -> str:
    """Return all figures, a line for each contract and for each program, and last every check that was wrong."""
    checks, cases, wrong = Counter[str](), Counter[str](), Counter[str]()
    for check in bundle.checks:
        checks[check.contract] += 1
        cases[check.contract] += check.cases
        wrong[check.contract] += check.failed
    lines = [
        f"{bundle.device}, driver {bundle.driver}, nvcc {bundle.nvcc}",
        "",
        "contract                 checks      cases  wrong",
    ]
    lines += [f"{name:24} {checks[name]:6} {cases[name]:10} {wrong[name]:6}" for name in sorted(checks)]
    lines += ["", "program                        seconds"]
    lines += [f"{name:30} {value:7.2f}  {bundle.faults.get(name, '')}" for name, value in sorted(seconds.items())]
    lines += [f"{name}: {fault}" for name, fault in bundle.faults.items() if name not in seconds]
    lines += [
        f"WRONG {check.program}: {check.contract}: {check.check}: {check.wrong} of {check.cases}: {check.detail}"
        for check in bundle.checks
        if check.failed
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="PROGRAM", help="run this program; may be repeated")
    asked = parser.parse_args()
    programs = [path for path in found(PROGRAMS) if not asked.only or path.stem in asked.only]
    gpus, tools = visible_gpus(), locate(Settings())
    if not any(gpu.capability == (9, 0) for gpu in gpus.devices):
        sys.stderr.write(f"error: no GPU that runs {ARCH}: {gpus.reason or [gpu.name for gpu in gpus.devices]}\n")
        return 3
    with tempfile.TemporaryDirectory(prefix="ptxbench-contracts-") as folder:
        started = time.monotonic()
        built = build_all(tools, programs, Path(folder), jobs=os.cpu_count())
        building = time.monotonic() - started
        faults = {name: f"not compiled: {fault}" for name, fault in built.items() if fault is not None}
        answers = [run(Path(folder) / name) for name in built if name not in faults]
    faults |= {one.program: one.fault for one in answers if one.fault is not None}
    bundle = bundled(answers, faults, programs, gpus.driver, tools.versions.nvcc or "unknown")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(asked.out, (json.dumps(bundle.model_dump(mode="json"), indent=1, sort_keys=True) + "\n").encode())
    sys.stdout.write(table(bundle, {one.program: one.seconds for one in answers}))
    sys.stdout.write(f"\nbuilt in {building:.1f} s on {os.cpu_count()} cores, ran in {sum(one.seconds for one in answers):.1f} s\n")
    return 1 if faults or any(check.failed for check in bundle.checks) else 0


if __name__ == "__main__":
    sys.exit(main())
