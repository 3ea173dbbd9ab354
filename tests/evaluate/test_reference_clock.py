"""A judge whose CUPTI is there and refuses to record measures by events, and says why; needs no GPU."""

from __future__ import annotations

import pytest

from ptxbench.evaluate.device import reference
from ptxbench.evaluate.sandbox.inside.activity import Unavailable


class Quiet:
    """Takes the place of whatever would touch the device."""

    def __init__(self, *_: object) -> None:
        pass


class Refusing:
    """A library that can be loaded, and that the driver does not let record."""

    def __init__(self, _: str | None) -> None:
        pass

    def start(self) -> None:
        raise Unavailable("cuptiActivityEnable failed: error 999 (CUPTI_ERROR_UNKNOWN)")


def test_a_cupti_that_refuses_to_record_is_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "load_driver", lambda: None)
    monkeypatch.setattr(reference, "Driver", Quiet)
    monkeypatch.setattr(reference, "Timing", Quiet)
    monkeypatch.setattr(reference, "ActivityTrace", Refusing)
    clock = reference.ReferenceClock("libcupti.so.13", 1 << 20)
    assert clock.method == "events"
    assert clock.why is not None and "cuptiActivityEnable" in clock.why
