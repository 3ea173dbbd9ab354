"""Canonical JSON and content hashes: the same value gives the same bytes on every machine."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from pydantic import BaseModel

_SPELLED = {math.inf: "Infinity", -math.inf: "-Infinity"}
"""How records spell what JSON cannot (FlashInfer-Trace's spelling, which pydantic reads back as a number)."""


def canonical_json(value: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys and no insignificant white space. Half a surrogate pair becomes ``?``.

    Infinities and NaN inside a record become the strings ``Infinity``, ``-Infinity`` and ``NaN``, so that no measured value
    keeps a record from being stored. In plain values they are refused (``ValueError``), since JSON has no spelling for them
    that all readers share.
    """
    if isinstance(value, BaseModel):
        value = spelled(value.model_dump(mode="json"))
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")


def spelled(value: Any) -> Any:
    """Return plain JSON values with infinities and NaN spelled as strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return _SPELLED.get(value, "NaN")
    if isinstance(value, dict):
        return {key: spelled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [spelled(item) for item in value]
    return value


def sha256(data: bytes) -> str:
    """Return ``sha256:<64 hex digits>`` of the bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def content_hash(value: Any) -> str:
    """Return the hash of the canonical JSON of a record or plain JSON value."""
    return sha256(canonical_json(value))
