"""Claims of a candidate's process are read only as what our runner sends; anything else is nothing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxbench.evaluate.sandbox.claims import (
    MOST_NAMES,
    NAME_CHARACTERS,
    Counts,
    FunctionCounts,
    Timings,
    read_absence,
    read_counts,
    read_times,
    read_timings,
)

GOOD: dict[str, Any] = {"ns": [5, 6, 0], "method": "cupti", "launches": {"_Z3runv": 2}, "late": 1, "empty": 1}


def timings(**changes: Any) -> Timings | None:
    return read_timings(GOOD | changes, 3, "cupti", 99)


def test_a_reply_of_the_runner_is_read_whole():
    assert timings() == Timings((5, 6, 0), "cupti", {"_Z3runv": 2}, 1, 1, None, 99)
    events = {"ns": [1], "method": "events", "launches": {}, "late": 0, "empty": 0}
    assert read_timings(events, 1, "events", 7) == Timings((1,), "events", {}, 0, 0, None, 7)


def test_a_method_that_cannot_be_had_comes_with_a_reason_and_no_times():
    found = read_timings({"ns": [], "method": None, "why": "no CUPTI \ud800" + "x" * 9999}, 3, "cupti", 1)
    assert found is not None and found.method is None and found.ns == ()
    assert found.why is not None and found.why.startswith("no CUPTI ?") and len(found.why) == 2000
    assert read_timings({"ns": [1, 2, 3], "method": None, "why": "no"}, 3, "cupti", 1) is None
    assert read_timings({"method": None, "why": "no"}, 3, "cupti", 1) is None
    silent = read_timings({"ns": [], "method": None, "why": ["deep"]}, 3, "cupti", 1)
    assert silent is not None and silent.why == "(no text)"


@pytest.mark.parametrize(
    "changes",
    [
        {"ns": [5, 6]},
        {"ns": [5, 6, 7, 8]},
        {"ns": []},
        {"ns": [5, 6, -1]},
        {"ns": [5, 6, 1.0]},
        {"ns": [5, 6, math.nan]},
        {"ns": [5, 6, True]},
        {"ns": [5, 6, "7"]},
        {"ns": [5, 6, 1 << 62]},
        {"ns": [5, 6, None]},
        {"ns": {"0": 5}},
        {"ns": None},
        {"method": "events"},
        {"method": "wall"},
        {"method": ["cupti"]},
        {"method": 1},
        {"launches": []},
        {"launches": {"k": -1}},
        {"launches": {"k": 1.5}},
        {"launches": {"k": math.inf}},
        {"launches": {"k": True}},
        {"launches": {"k": [[]]}},
        {"launches": {str(place): 1 for place in range(MOST_NAMES + 1)}},
        {"late": -1},
        {"late": "0"},
        {"late": 1 << 62},
        {"late": None},
        {"empty": 4},
        {"empty": False},
        {"empty": math.nan},
    ],
)
def test_anything_else_is_no_reply(changes):
    assert timings(**changes) is None


def test_names_of_kernels_are_bounded_and_can_be_written():
    found = timings(launches={"k\udfff" + "x" * 9999: 1})
    assert found is not None
    (name,) = found.launches
    assert name.startswith("k?") and len(name) == NAME_CHARACTERS and name.encode()


def test_times_are_whole_and_not_negative():
    assert read_times([0, 1, 2**61]) == (0, 1, 2**61)
    assert read_times([]) == ()
    assert all(read_times(value) is None for value in (None, 1, "1", [-1], [1.0], [False], [[1]], (1,)))


def counted(**changes: Any) -> bytes:
    document = {"kernels": [{"name": "_Z3runv", "pcs": [[0, 4, 128], [16, 4, 64]]}], "dropped": 0}
    return json.dumps(document | changes).encode()


def test_counts_are_read_from_what_the_runner_writes():
    assert read_counts(counted()) == Counts((FunctionCounts("_Z3runv", ((0, 4, 128), (16, 4, 64))),), 0)
    assert read_counts(counted(kernels=[], dropped=5)) == Counts((), 5)
    large = counted(kernels=[{"name": "k", "pcs": [[0, 2**64 - 1, 2**64 - 1]]}])
    assert read_counts(large) is not None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 100,
        b"\xff\xfe{}",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b"[" * 100_000,
        b'{"kernels":' * 5000 + b"1" + b"}" * 5000,
        counted()[:-1],
        counted() + b"\0",
        b'{"kernels": [], "dropped": ' + b"9" * 5000 + b"}",
        counted(dropped=-1),
        counted(dropped=0.0),
        counted(dropped=math.nan),
        counted(dropped=None),
        counted(kernels={}),
        counted(kernels=[[]]),
        counted(kernels=[None]),
        counted(kernels=[{"name": 1, "pcs": []}]),
        counted(kernels=[{"name": "k"}]),
        counted(kernels=[{"name": "k", "pcs": {}}]),
        counted(kernels=[{"name": "k", "pcs": [[0, 1]]}]),
        counted(kernels=[{"name": "k", "pcs": [[0, 1, 1, 1]]}]),
        counted(kernels=[{"name": "k", "pcs": [[0, 1, -1]]}]),
        counted(kernels=[{"name": "k", "pcs": [[0, 1, 2**64]]}]),
        counted(kernels=[{"name": "k", "pcs": [[0, 1, 1e3]]}]),
        counted(kernels=[{"name": "k", "pcs": [[0, 1, math.inf]]}]),
        counted(kernels=[{"name": "k", "pcs": [[True, 1, 1]]}]),
        counted(kernels=[{"name": "k", "pcs": ["abc"]}]),
        counted(kernels=[{"name": "k", "pcs": []}] * (MOST_NAMES + 1)),
    ],
)
def test_garbage_in_the_results_file_is_no_counts(data):
    assert read_counts(data) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "pcs", "kernels", "dropped"]), inner),
    max_leaves=20,
)


@given(JSON)
def test_no_document_makes_a_reader_fail(document):
    found = read_counts(json.dumps(document).encode())
    assert found is None or isinstance(found, Counts)
    reply = {"ns": document, "method": "cupti", "launches": document, "late": document, "empty": document}
    assert read_timings(reply, 2, "cupti", 1) is None or isinstance(document, list)


def test_an_absence_says_why_and_whether_a_right_is_missing():
    assert read_absence({"why": "no rights", "permission": True}) == Counts((), 0, "no rights", True)
    assert read_absence({"why": 5, "permission": 1}) == Counts((), 0, "(no text)", False)
