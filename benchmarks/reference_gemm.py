"""The reference WGMMA GEMM against cuBLAS on the GPU of this machine: correctness on whole and ragged tiles, and latency.

Candidate and cuBLAS take turns in one process: 40 calls each over three input sets, L2 overwritten before every call, CUDA events
around the call alone, medians (see tests/gpu/call_gemm.py).

usage: python benchmarks/reference_gemm.py OUT.json
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import evidence
from ptxbench.app.recording import load_recording
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, locate

CALL = evidence.ROOT / "tests" / "gpu" / "call_gemm.py"
SIZES = ((8192, 7168, 5120), (1, 2, 8), (129, 264, 72), (1000, 1026, 1032), (2500, 3000, 1032))


def measure(source: str, settings: Settings, size: tuple[int, int, int]) -> dict[str, object]:
    candidate = Candidate(
        sources=(Source(path="kernel.cu", content=source),), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a"
    )
    result = Builder(settings).build(candidate)
    if not result.build.ok or result.library is None:
        raise SystemExit(f"the kernel does not compile: {result.build.diagnostics}")
    command = [sys.executable, str(CALL), str(result.library), str(locate(settings).tvm_library), *map(str, size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    if done.returncode:
        raise SystemExit(f"{size}: {done.stderr[-2000:]}")
    found: dict[str, object] = json.loads(done.stdout)
    return {"m": size[0], "n": size[1], "k": size[2], **found}


def main() -> None:
    out = Path(sys.argv[1])
    settings = Settings()
    recording = load_recording("gemm_n7168_k5120")
    rows = [measure(recording.turn[2].source(), settings, size) for size in SIZES]
    headline = rows[0]
    wrong = measure(recording.turn[1].source(), settings, SIZES[0])
    query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm", "--format=csv,noheader"]
    gpu = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    evidence.write(
        out,
        {
            "gpu": gpu,
            "toolchain": locate(settings).versions.model_dump(),
            "speedup_against_cublas_events": round(float(headline["reference_us"]) / float(headline["candidate_us"]), 3),  # type: ignore[arg-type]
            "reference_kernel": rows,
            "recorded_wrong_kernel": wrong,
        },
    )


if __name__ == "__main__":
    main()
