"""What a device tells of its clocks, and that nothing is made up where it tells nothing."""

from __future__ import annotations

import threading

from ptxbench.evaluate.device.telemetry import ClockWatch, Glance, Reading, clocks

IDLE = Reading(sm_mhz=1980, temperature_c=40, power_w=120.0, throttle=())
HOT = Reading(sm_mhz=1965, temperature_c=60, power_w=690.0, throttle=("software_power_cap",))
SOON = 30.0


def test_a_clock_is_looked_at_until_the_work_is_done() -> None:
    enough, told = threading.Event(), iter([1600, 1590, 1580])

    def look() -> Glance:
        try:
            return Glance(next(told))
        except StopIteration:
            enough.set()
            return Glance(1570)

    with ClockWatch(look) as watch:
        assert enough.wait(SOON)
    seen = [one.sm_mhz for one in watch.seen]
    assert seen[:3] == [1600, 1590, 1580] and set(seen[3:]) <= {1570}
    assert "clock" not in {thread.name for thread in threading.enumerate()}, "nobody looks any more"


def test_a_device_that_does_not_tell_is_asked_once() -> None:
    asked = threading.Event()

    def look() -> None:
        assert not asked.is_set()
        asked.set()

    with ClockWatch(look) as watch:
        assert asked.wait(SOON)
    assert watch.seen == []


def test_the_record_has_the_median_under_load() -> None:
    found = clocks(IDLE, HOT, [Glance(1980), Glance(1590, ("software_power_cap",)), Glance(1575, ("hardware_thermal",))])
    assert found is not None and (found.sm_mhz_before, found.sm_mhz_timed, found.sm_mhz_after) == (1980, 1590, 1965)
    assert found.throttle == ("software_power_cap", "hardware_thermal")
    nothing_seen = clocks(IDLE, HOT)
    assert nothing_seen is not None and nothing_seen.sm_mhz_timed is None
    assert clocks(None, HOT, [Glance(1590)]) is None
