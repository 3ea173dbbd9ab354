"""Workloads held as tensors: the same sets as on the host, made at once, compared where they lie."""

from __future__ import annotations

import numpy as np
import pytest

from ptxbench.evaluate.judge.held import Holdings, hold_on_host
from ptxbench.schema import Profile
from ptxbench.suite import load

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from ptxbench.evaluate.compare import judge_output  # noqa: E402
from ptxbench.evaluate.device.held import hold_on_device  # noqa: E402


@pytest.fixture(scope="module")
def task():
    return load().task("cpu_gemm_n256_k256")


@pytest.fixture(scope="module")
def held(task):
    made = hold_on_device(task, 3, Profile.STRICT, "cpu")
    made.prepare(strict=True, timed=2)
    return made


def test_all_sets_of_an_evaluation_are_made_at_once_and_are_those_of_the_host(task, held):
    before = held.bytes
    host = hold_on_host(task, 3, Profile.STRICT)
    pairs = [(held.published(number), host.published(number)) for number in range(3)]
    pairs += [(held.strict(), host.strict())] + [(held.timed(number), host.timed(number)) for number in range(2)]
    for ours, theirs in pairs:
        assert (ours.kind, ours.seed) == (theirs.kind, theirs.seed)
        for name, value in theirs.inputs.items():
            assert np.array_equal(held.rules.host(ours.inputs[name]).view(np.uint8), np.ascontiguousarray(value).view(np.uint8))
        assert np.allclose(held.rules.host(ours.oracle["C"]), theirs.oracle["C"], rtol=1e-12, atol=1e-12)
    assert held.bytes == before > 0


def test_outputs_are_judged_where_they_lie(task, held):
    against = held.published(0)
    right = judge_output(task, "C", against.expected["C"].clone(), against, against, held.rules)
    assert right.paper and right.strict and not right.reasons
    off = judge_output(task, "C", against.expected["C"] * 1.5, against, against, held.rules)
    assert not off.paper and not off.strict and off.comparison.worst is not None


def test_the_least_recently_used_workload_goes_first(task):
    holdings = Holdings(1, lambda task, seed, profile: hold_on_device(task, seed, profile, "cpu"))
    first = holdings.get(task, 0, Profile.PAPER)
    first.published(0)
    second = holdings.get(task, 1, Profile.PAPER)
    second.published(0)
    holdings.trim()
    assert holdings.bytes == second.bytes
    assert holdings.get(task, 0, Profile.PAPER) is not first
