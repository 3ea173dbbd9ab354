"""The parameters of a device as a table of a prompt, from the device table of ``arch``."""

from __future__ import annotations

from ptxbench.arch import DeviceFacts, Figure, measured

ROWS = {
    "sm_count": "Streaming multiprocessors",
    "memory_bytes": "Device memory",
    "memory_bandwidth": "Device memory bandwidth",
    "l2_bytes": "L2 cache",
    "shared_bytes_per_sm": "Shared memory per multiprocessor",
    "shared_bytes_per_block": "Shared memory per block, with opt-in",
    "registers_per_sm": "Registers per multiprocessor",
    "warps_per_sm": "Warps per multiprocessor",
    "bf16_dense": "Tensor cores, BF16 and FP16, dense",
    "fp8_dense": "Tensor cores, FP8, dense",
    "fp32": "FP32 outside the tensor cores",
}
"""Figure of ``DeviceFacts`` to what a reader is told."""


def device_table(facts: DeviceFacts) -> str:
    """Return a device's figures as a Markdown table, the stated ones, then those measured; sources stand once, below it."""
    major, minor = facts.compute_capability
    rows: list[tuple[str, Figure]] = [(label, getattr(facts, name)) for name, label in ROWS.items()]
    rows += [(one.label, one.figure) for one in measured(facts.id)]
    sources = list(dict.fromkeys(figure.source for _, figure in rows))
    lines = [
        f"### {facts.name} (compute capability {major}.{minor}, nvcc target {facts.arch})",
        "",
        "| | | source |",
        "|---|---|---|",
        *(f"| {label} | {_value(figure)} | {sources.index(figure.source) + 1} |" for label, figure in rows),
        "",
        f"Sources: {'; '.join(f'{number} {source}' for number, source in enumerate(sources, 1))}.",
    ]
    return "\n".join(lines) + "\n"


def _value(figure: Figure) -> str:
    """Return a figure as people read it: bytes of caches and shared memory in binary units, of device memory in decimal ones."""
    if figure.unit != "B":
        return f"{figure.value:,g} {figure.unit}" if figure.value < 1e6 else f"{figure.value:,.0f} {figure.unit}"
    size = int(figure.value)
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size < 1e9 and size % factor == 0:
            return f"{size // factor} {unit} ({size:,} B)"
    return f"{size / 1e9:g} GB"
