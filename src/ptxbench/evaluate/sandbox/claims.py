"""What a candidate's process claims, read with suspicion: every number has its type and its range, every list its end.

A reply that is anything else than what our runner sends is no reply of our runner; the functions here return None for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ptxbench.toolchain.paths import spelled_out

MOST_NS = 1 << 62
MOST_NAMES = 4096
"""Kernels that one call may launch by different names."""
NAME_CHARACTERS = 4096
"""Length of a mangled name that is kept; ptxas itself takes longer ones."""
TEXT_CHARACTERS = 2000
COUNTER_END = 1 << 64
MOST_TENSORS = 256

TimeMethod = Literal["cupti", "events"]


@dataclass(frozen=True)
class Answer:
    """What the child claims of a request (``claimed_ns`` per call) and what the judge's clocks say of it.

    ``wall_ns`` is the time between question and answer, ``cpu_ns`` the processor time of the process in it, ``idle_cpu_ns`` that
    between the answer before and the question (both None where the kernel does not tell). ``pending`` is an error that the
    candidate left in the CUDA runtime without looking at it, such as that of a launch that was refused.
    """

    claimed_ns: tuple[int, ...]
    wall_ns: int
    returned: str | None
    cpu_ns: int | None = None
    idle_cpu_ns: int | None = None
    pending: str | None = None


@dataclass(frozen=True)
class Timings:
    """Spans of timed calls on the GPU, as the child claims them.

    Attributes:
        ns: per timed iteration, from the first start to the last end of all that the call did on the device; 0 where it did
            nothing.
        method: how they were taken; None when the method that was asked for cannot be had, and ``why`` says what is missing.
        launches: per kernel (mangled name), how often the last iteration launched it; empty for ``events``.
        late: device activities that belong to no call and are not ours.
        empty: iterations without any device activity.
        wall_ns: time between question and answer by the judge's clock.
    """

    ns: tuple[int, ...]
    method: TimeMethod | None
    launches: Mapping[str, int]
    late: int
    empty: int
    why: str | None
    wall_ns: int


@dataclass(frozen=True)
class FunctionCounts:
    """Executions by instruction of one function: ``pcs`` holds (offset in bytes, by warps, by threads whose predicate was true)."""

    name: str
    pcs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Counts:
    """Executed instructions of one call, as the child claims them.

    ``why`` says what is missing when nothing could be counted; ``permission`` is True when that is the right to read counters.
    ``dropped`` counts records that were lost: the counts are then too low.
    """

    functions: tuple[FunctionCounts, ...]
    dropped: int = 0
    why: str | None = None
    permission: bool = False


@dataclass(frozen=True)
class TensorPlace:
    """Where the child says that an argument has an allocation of its own: its address and its size in bytes."""

    name: str
    address: int
    size_bytes: int


def read_tensors(value: object) -> tuple[TensorPlace, ...]:
    """Return where arguments lie, none for anything else than a short list of that: it is for texts alone."""
    if not isinstance(value, list) or len(value) > MOST_TENSORS:
        return ()
    return tuple(
        TensorPlace(clean(one[0])[:NAME_CHARACTERS], one[1], one[2])
        for one in value
        if isinstance(one, list) and len(one) == 3 and all(is_count(number, COUNTER_END) for number in one[1:])
    )


def clean(text: object) -> str:
    """Return a claim as text that can be written and shown.

    Lone surrogates, which JSON can spell and UTF-8 cannot, are replaced; characters that a terminal obeys are spelled out.
    """
    if not isinstance(text, str):
        return "(no text)"
    return spelled_out(text.encode("utf-8", "replace").decode("utf-8"))


def is_count(value: object, end: int = MOST_NS) -> bool:
    """Whether a value is a whole number from 0 to below ``end`` (True and False are not numbers here)."""
    return type(value) is int and 0 <= value < end


def read_times(value: object) -> tuple[int, ...] | None:
    """Return a list of nanoseconds, None for anything else."""
    if not isinstance(value, list) or not all(is_count(ns) for ns in value):
        return None
    return tuple(value)


def read_timings(reply: Mapping[str, Any], iterations: int, asked: TimeMethod, wall_ns: int) -> Timings | None:
    """Return a reply to ``time``, None for one that our runner does not send."""
    ns, method, launches = read_times(reply.get("ns")), reply.get("method"), reply.get("launches", {})
    if method is None:
        why = clean(reply.get("why"))[:TEXT_CHARACTERS]
        return Timings((), None, {}, 0, 0, why, wall_ns) if ns == () else None
    late, empty = reply.get("late", 0), reply.get("empty", 0)
    if ns is None or method != asked or len(ns) != iterations or not is_count(late) or not is_count(empty, iterations + 1):
        return None
    if not isinstance(launches, dict) or len(launches) > MOST_NAMES or not all(map(is_count, launches.values())):
        return None
    return Timings(
        ns, method, {clean(name)[:NAME_CHARACTERS]: count for name, count in launches.items()}, late, empty, None, wall_ns
    )


def read_absence(reply: Mapping[str, Any]) -> Counts:
    """Return why nothing could be counted, from a reply to ``prove``."""
    return Counts((), why=clean(reply.get("why"))[:TEXT_CHARACTERS], permission=reply.get("permission") is True)


def read_counts(data: bytes) -> Counts | None:
    """Return the counts in a results file, None for anything else than what our runner writes there."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not is_count(document.get("dropped")):
        return None
    kernels = document.get("kernels")
    if not isinstance(kernels, list) or len(kernels) > MOST_NAMES:
        return None
    functions = [_read_function(kernel) for kernel in kernels]
    if None in functions:
        return None
    return Counts(tuple(function for function in functions if function is not None), document["dropped"])


def _read_function(kernel: object) -> FunctionCounts | None:
    if not isinstance(kernel, dict) or not isinstance(kernel.get("name"), str) or not isinstance(kernel.get("pcs"), list):
        return None
    for pc in kernel["pcs"]:
        if not isinstance(pc, list) or len(pc) != 3 or not all(is_count(value, COUNTER_END) for value in pc):
            return None
    return FunctionCounts(clean(kernel["name"])[:NAME_CHARACTERS], tuple((pc[0], pc[1], pc[2]) for pc in kernel["pcs"]))
