"""What the device did and when, by CUPTI's activity records (NVIDIA's package ``cupti``, imported when first needed)."""

from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any, NamedTuple

from .packages import PackageFinder

KERNEL, COPY, FILL = "kernel", "copy", "fill"
BUFFER_BYTES = 8 << 20
MOST_ACTIVITIES = 1 << 20
"""Records that are kept of one request; a candidate that does more cannot be timed by them."""
_FORCED = 1


class Unavailable(Exception):
    """CUPTI cannot be used here; ``permission`` when it is the right to that is missing."""

    def __init__(self, text: str, permission: bool = False) -> None:
        super().__init__(text)
        self.permission = permission


class Activity(NamedTuple):
    """One thing that the device did: times in nanoseconds on CUPTI's clock, a kernel's mangled name."""

    start: int
    end: int
    kind: str
    name: str
    stream: int


class ActivityTrace:
    """Records of kernels, copies and fills, on every stream and in every context. Raises ``Unavailable``."""

    def __init__(self, library: str | None, finder: PackageFinder | None) -> None:
        if finder is None:
            raise Unavailable("the package cupti-python is not installed")
        try:
            # The package then finds the library loaded and looks no further.
            self._library = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL) if library else None
            sys.meta_path.append(finder)
            self._cupti: Any = importlib.import_module("cupti.cupti")
        except (ImportError, OSError) as error:
            raise Unavailable(f"CUPTI cannot be loaded: {error}") from error
        kinds = self._cupti.ActivityKind
        self._kinds = {
            int(kinds.CONCURRENT_KERNEL): KERNEL,
            int(kinds.MEMCPY): COPY,
            int(kinds.MEMCPY2): COPY,
            int(kinds.MEMSET): FILL,
        }
        self._records: list[Activity] = []
        self._lost = 0
        self._on = False
        self._checked("activity_register_callbacks", self._offer, self._receive)

    def start(self) -> None:
        """Begin anew: what was recorded so far is forgotten."""
        if not self._on:
            for kind in self._kinds:
                self._checked("activity_enable", kind)
            self._on = True
        self._checked("activity_flush_all", _FORCED)
        self._records, self._lost = [], 0

    def take(self) -> list[Activity]:
        """Return what was recorded since ``start``, in the order of time."""
        self._checked("activity_flush_all", _FORCED)
        if self._lost:
            raise Unavailable(f"the calls did more than {MOST_ACTIVITIES} things on the device")
        taken, self._records = sorted(self._records), []
        return taken

    def stop(self) -> None:
        """Record nothing any more."""
        if self._on:
            for kind in self._kinds:
                self._checked("activity_disable", kind)
            self._checked("activity_flush_all", _FORCED)
            self._on = False
        self._records = []

    def now(self) -> int:
        """Return the time on the clock of the records."""
        stamp: int = self._cupti.get_timestamp()
        return stamp

    def stream_id(self, context: ctypes.c_void_p, stream: int) -> int:
        """Return the number by which records name a stream."""
        number: int = self._checked("get_stream_id_ex", context.value, stream, 0)
        return number

    def _checked(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._cupti, name)(*arguments)
        except self._cupti.cuptiError as error:
            raise Unavailable(f"CUPTI failed in {name}: {error}") from error

    def _offer(self) -> tuple[int, int]:
        """Return the size of a buffer, and 0 for as many records as fit."""
        return BUFFER_BYTES, 0

    def _receive(self, activities: list[Any]) -> None:
        """Take the records of a buffer, on whichever thread CUPTI completes it."""
        for one in activities:
            kind = self._kinds.get(int(one.kind))
            if kind is None:
                continue
            if len(self._records) >= MOST_ACTIVITIES:
                self._lost += 1
                continue
            name = str(one.name) if kind == KERNEL else ""
            self._records.append(Activity(int(one.start), int(one.end), kind, name, int(one.stream_id)))
