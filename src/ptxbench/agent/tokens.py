"""How many tokens a text is, as a record: exactly where the model's tokenizer is installed, else an estimate that says so."""

from __future__ import annotations

from collections.abc import Iterable

from ptxbench.core import tokens
from ptxbench.packs import Rendering
from ptxbench.packs.tokens import BY_CHARACTERS, estimate
from ptxbench.schema import Record


class TokenEstimate(Record):
    """A count of tokens, whether it is exact, and what counted. A provider adds a few tokens a message for its own template."""

    tokens: int
    exact: bool
    counted_by: str


def count_tokens(text: str, model: str) -> TokenEstimate:
    """Return how many tokens a text is for a model, named as ``--model`` names it."""
    found = tokens.count(text, model)
    return TokenEstimate(tokens=found.tokens, exact=found.exact, counted_by=found.counted_by)


def pack_tokens(rendering: Rendering, model: str) -> TokenEstimate:
    """Return how many tokens a pack's text is: its code and its prose estimated apart where no tokenizer counts."""
    found = count_tokens(rendering.text, model)
    return found if found.exact else TokenEstimate(tokens=estimate(rendering), exact=False, counted_by=BY_CHARACTERS)


def sum_of(counts: Iterable[TokenEstimate]) -> TokenEstimate:
    """Return the sum of counts that were made alike."""
    first, *others = counts
    return first.model_copy(update={"tokens": first.tokens + sum(count.tokens for count in others)})
