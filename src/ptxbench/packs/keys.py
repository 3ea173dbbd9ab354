"""Which keys a record takes at a place: to name the nearest one to a key that it does not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ptxbench.core.errors import nearest


def first_fault(error: ValidationError, record: type[BaseModel] | None = None) -> str:
    """Return one line for the first thing that a record refused: the key and why; of an unknown key, the nearest known one.

    An unknown key comes before a missing one, which is most often the same one, misspelt.
    """
    faults = error.errors(include_url=False)
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    where = ".".join(map(str, fault["loc"]))
    known = known_keys(record, fault["loc"][:-1]) if record is not None and fault["type"] == "extra_forbidden" else []
    if not known:
        return f"{where}: {fault['msg']}"
    close = nearest(str(fault["loc"][-1]), known, limit=1)
    step = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
    return f"{where}: unknown key; {step}"


def known_keys(record: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """Return the keys of the record at a place inside another (``packs``, ``hopper``); none where there is no record."""
    kind: Any = record
    for step in place:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(step))
            kind = None if field is None else field.annotation
        else:
            inner = get_args(kind)
            kind = inner[1] if get_origin(kind) is Mapping and len(inner) == 2 else inner[0] if inner else None
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []
