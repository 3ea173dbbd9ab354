"""The figures of README that need no GPU: import, compile cold and cached, quickstart.

usage: python benchmarks/readme_figures.py [OUT.json]   (about two minutes)
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import evidence

ROOT = evidence.ROOT
KERNEL = ROOT / "kernels" / "sm_90a" / "gemm_bf16" / "kernel.cu"
RUNS = 5


def cpu_seconds(code: str) -> float:
    """Return the CPU seconds (user and system) of a fresh Python process that runs ``code``."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def median(values: list[float]) -> float:
    return round(statistics.median(values), 3)


def wall(command: list[str], cache: str, code: int = 0) -> float:
    """Return the wall seconds of a ptxbench command, checking its exit code."""
    environment = {**os.environ, "PTXBENCH_CACHE_DIR": cache}
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "ptxbench", *command], capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - started
    if done.returncode != code:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    return seconds


def compiler_wheels_mb() -> int:
    """Return the size of the compiler wheels on disk in MB."""
    import nvidia

    files = (path for folder in nvidia.__path__ for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_size for path in files) / 1e6)


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "evidence" / "cpu" / "readme-figures.json"
    empty = median([cpu_seconds("") for _ in range(RUNS)])
    package = median([cpu_seconds("import ptxbench") for _ in range(RUNS)])
    command_line = median([cpu_seconds("import ptxbench.cli.application") for _ in range(RUNS)])
    compile_command = ["compile", str(KERNEL), "--arch", "sm_90a", "--json"]
    cold, cached = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(wall(compile_command, cache))
            cached.append(wall(compile_command, cache))
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        quickstart = wall(["quickstart", "--out", f"{folder}/runs"], cache)
    evidence.write(
        out,
        {
            "python_start_cpu_s": empty,
            "import_ptxbench_cpu_s": round(package - empty, 3),
            "import_command_line_cpu_s": round(command_line - empty, 3),
            "compile_reference_gemm_cold_s": median(cold),
            "compile_reference_gemm_cached_s": median(cached),
            "quickstart_cold_s": round(quickstart, 1),
            "compiler_wheels_on_disk_mb": compiler_wheels_mb(),
        },
    )


if __name__ == "__main__":
    main()
