"""How much a model is told, and the most that one text may cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

FeedbackProfile = Literal["paper", "full"]
"""``paper``: what the published benchmark tells and nothing more. ``full``: everything that helps to repair."""

CHARACTERS_PER_TOKEN = 4
"""A cautious average for English and C++; budgets need no tokenizer."""

TOKEN_BUDGET: Mapping[str, int] = {"compile_error": 3000, "sanitizer_error": 2000, "policy_violation": 1000, "no_code": 200}
"""Most tokens of one feedback text by outcome; ``DEFAULT_BUDGET`` for the others."""
DEFAULT_BUDGET = 1500

COUNTERS_BUDGET = 500
"""Most tokens of the counters in it."""

CUT_NOTICE = 60
"""Characters that are kept for the line that says what was left out."""


def budget_characters(outcome: str) -> int:
    """Return the most characters of a feedback text, without its last newline."""
    return TOKEN_BUDGET.get(outcome, DEFAULT_BUDGET) * CHARACTERS_PER_TOKEN


def cut(text: str, budget: int) -> str:
    """Return the text within ``budget`` characters: its first and last lines, which are worth most, whole where they fit."""
    if len(text) <= budget:
        return text
    tail_room = budget // 4
    head_room = budget - tail_room - CUT_NOTICE
    head = _up_to_line_end(text[:head_room])
    tail = _from_line_start(text[-tail_room:])
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters left out …\n{tail}"


def _up_to_line_end(text: str) -> str:
    """Return the text up to its last whole line, unless that loses more than half of it."""
    end = text.rfind("\n")
    return text[:end] if end > len(text) // 2 else text


def _from_line_start(text: str) -> str:
    begin = text.find("\n") + 1
    return text[begin:] if begin and begin < len(text) // 2 else text
