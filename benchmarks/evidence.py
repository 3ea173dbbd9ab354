"""The envelope of an evidence file: what was run, on what, when, at which commit; and the figures."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def commit() -> str | None:
    """Return the commit that is measured: ``PTXBENCH_COMMIT``, else git's; a changed tree is marked."""
    if os.environ.get("PTXBENCH_COMMIT"):
        return os.environ["PTXBENCH_COMMIT"]
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain", "--", "src", "kernels"], cwd=ROOT, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+changes" if changed.stdout.strip() else "")


def processor() -> str:
    """Return the processor's model name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _shown(argument: str) -> str:
    """Return an argument as it may be published: of a path, only the last part."""
    return Path(argument).name if "/" in argument else argument


def write(path: Path, figures: dict[str, Any]) -> None:
    """Write figures with their envelope to ``path`` and print them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "command": " ".join(["python", str(Path(sys.argv[0]).resolve().relative_to(ROOT)), *map(_shown, sys.argv[1:])]),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "figures": figures,
    }
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
