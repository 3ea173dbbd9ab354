"""Global options may stand anywhere: they are moved in front of the command before it is read."""

from __future__ import annotations

from collections.abc import Sequence

WITH_VALUE = ("--suite", "--color")
ALONE = ("--json", "--verbose", "-v", "-vv", "-vvv")


def hoisted(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the global options first, each with its value; nothing after ``--`` is touched."""
    front: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            rest += [word, *waiting]
            break
        if word in WITH_VALUE and waiting:
            front += [word, waiting.pop(0)]
        elif word in ALONE or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            front.append(word)
        else:
            rest.append(word)
    return [*front, *rest]
