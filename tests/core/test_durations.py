"""Seconds for people: two digits that say something, and never an exponent."""

import pytest

from ptxbench.core.durations import seconds_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.00 s"), (3.3e-5, "0.00 s"), (0.564, "0.56 s"), (4.06, "4.1 s"), (62.2, "62 s"), (123.4, "123 s"), (3600.0, "3600 s")],
)
def test_seconds_are_told_without_an_exponent(seconds, text):
    assert seconds_text(seconds) == text
