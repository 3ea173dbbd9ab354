"""The two kinds of record: ours (frozen, strict) and FlashInfer-Trace's (byte-compatible, lenient about foreign keys)."""

from __future__ import annotations

import math
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

SCHEMA_VERSION = 1
"""Version of the shapes in this package; every record that is stored carries it."""

PROTOCOL_VERSION = "1"
"""Version of what the numbers mean; changes with any rule of the measurement protocol."""


class Record(BaseModel):
    """A frozen record of ours: unknown keys are an error, so that a misspelt key cannot pass unseen."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, ser_json_inf_nan="strings")


class TraceRecord(BaseModel):
    """A record of the FlashInfer-Trace format.

    What was read is written again with the same keys in the same order: keys that a foreign writer left out stay out, keys that
    we do not know are kept, and ``unknown_keys`` names them.
    """

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True, ser_json_inf_nan="strings")

    _key_order: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _remember_keys(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        record = handler(data)
        if isinstance(data, dict):
            record._key_order = tuple(data)
        return record

    @model_serializer(mode="wrap")
    def _write_in_order(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        if info.mode_is_json():
            dumped = {key: _spelled(value) for key, value in dumped.items()}
        if not self._key_order:
            return dumped
        return {key: dumped[key] for key in self._key_order if key in dumped}

    @property
    def unknown_keys(self) -> tuple[str, ...]:
        """Names of the keys that are not part of the format as we know it."""
        return tuple(self.model_extra or ())


def _spelled(value: Any) -> Any:
    """Return the value with infinities and NaN as the strings that FlashInfer-Trace writes, wherever they are in it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_spelled(item) for item in value]
    return value
