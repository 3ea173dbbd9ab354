"""Canonical JSON and content hashes: the same value gives the same bytes on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def canonical_json(value: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys and no insignificant white space.

    NaN and infinities are refused (``ValueError``), since JSON has no spelling for them that all readers share.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def sha256(data: bytes) -> str:
    """Return ``sha256:<64 hex digits>`` of the bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def content_hash(value: Any) -> str:
    """Return the hash of the canonical JSON of a record or plain JSON value."""
    return sha256(canonical_json(value))
