"""Activity records are read as CUPTI lays them out, by its own walk over a buffer; needs its library and no GPU."""

from __future__ import annotations

import ctypes
import struct

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.cupti import locate
from ptxbench.evaluate.sandbox.inside.activity import COPY, FILL, KERNEL, Activity, ActivityTrace, Unavailable

KERNEL_BYTES, COPY_BYTES, FILL_BYTES = 216, 96, 88
"""Sizes of ``CUpti_ActivityKernel10``, ``CUpti_ActivityMemcpy6`` and ``CUpti_ActivityMemset4`` in CUPTI 13.0's header."""


@pytest.fixture(scope="module")
def trace() -> ActivityTrace:
    library = locate(Settings())
    if library is None:
        pytest.skip("CUPTI is not installed")
    return ActivityTrace(library)


def record(kind: int, size: int, start: int, end: int, stream: int, place: int, name: int = 0, value: int = 0) -> bytes:
    data = bytearray(size)
    struct.pack_into("<II", data, 0, kind, value)
    struct.pack_into("<QQ", data, 16, start, end)
    struct.pack_into("<I", data, place, stream)
    if name:
        struct.pack_into("<Q", data, 104, name)
    return bytes(data)


def test_records_of_each_kind_are_read_and_others_are_passed_over(trace):
    name = ctypes.create_string_buffer(b"_Z4gemmPfS_")
    data = b"".join(
        (
            record(10, KERNEL_BYTES, 100, 250, 7, 48, ctypes.addressof(name)),
            record(1, COPY_BYTES, 260, 270, 13, 40),
            record(2, FILL_BYTES, 50, 60, 14, 40, value=0x07070707),
            record(10, KERNEL_BYTES, 300, 301, 7, 48, ctypes.addressof(name)),
        )
    )
    memory = ctypes.create_string_buffer(data, len(data))
    assert trace.read(ctypes.addressof(memory), len(data)) == [
        Activity(100, 250, KERNEL, "_Z4gemmPfS_", 7),
        Activity(260, 270, COPY, "", 13),
        Activity(50, 60, FILL, "", 14, 7),
        Activity(300, 301, KERNEL, "_Z4gemmPfS_", 7),
    ]


def test_a_record_that_cupti_cannot_read_ends_the_walk_and_is_no_measurement(trace, monkeypatch):
    data = record(2, FILL_BYTES, 50, 60, 14, 40) + record(9999, FILL_BYTES, 0, 0, 0, 40) + record(2, FILL_BYTES, 70, 80, 14, 40)
    memory = ctypes.create_string_buffer(data, len(data))
    assert trace.read(ctypes.addressof(memory), len(data)) == [Activity(50, 60, FILL, "", 14)]
    monkeypatch.setattr(trace, "_flush", lambda: None)  # without a GPU there is nothing to deliver, and CUPTI says so
    with pytest.raises(Unavailable, match="cannot read its own records: error 21"):
        trace.take()


def test_an_empty_buffer_holds_nothing(trace):
    memory = ctypes.create_string_buffer(64)
    assert trace.read(ctypes.addressof(memory), 0) == []


def test_without_the_library_there_is_a_reason(tmp_path):
    with pytest.raises(Unavailable, match="not installed"):
        ActivityTrace(None)
    broken = tmp_path / "libcupti.so.13"
    broken.write_bytes(b"no library")
    with pytest.raises(Unavailable, match="cannot be loaded"):
        ActivityTrace(str(broken))
