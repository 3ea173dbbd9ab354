"""How long a run's turns take and how long its answers are: what an estimate of the next run rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import Self

from ptxbench.schema.base import Record
from ptxbench.schema.turn import Turn

NO_JUDGE_STAGES = frozenset({"model", "build", "wait"})
"""Seconds of a turn in which no judge works for it."""


class Pace(Record):
    """Means over turns, without what is no number; None where nothing is known of any."""

    judge_s: float | None = None
    """Seconds that a judge took for a candidate, without compiling and without waiting for its turn."""
    model_s: float | None = None
    """Seconds until a reply was there, retries included."""
    reply_tokens: float | None = None
    """Output tokens of a reply, its reasoning included."""

    @classmethod
    def of(cls, turns: Iterable[Turn]) -> Self:
        """Return the pace of some turns. Turns that no judge took part in say nothing of the judge's time."""
        judged, answered, tokens = [], [], []
        for turn in turns:
            judging = [value for stage, value in turn.seconds.items() if stage not in NO_JUDGE_STAGES and value is not None]
            judged += [sum(judging)] if judging else []
            model = turn.seconds.get("model")
            answered += [model] if model is not None else []
            tokens += [turn.tokens.output] if turn.tokens.output is not None else []
        return cls(judge_s=_mean(judged), model_s=_mean(answered), reply_tokens=_mean(tokens))


def _mean(values: list[float] | list[int]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return fmean(known) if known else None
