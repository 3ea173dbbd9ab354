"""Candidates in CUDA: a shared object as in ``native.py``, called with tensors in device memory that the judge lends."""

from __future__ import annotations

import base64
import ctypes
import json
import os
from collections.abc import Callable
from typing import Any

from .activity import ActivityTrace, Unavailable
from .driver import LEGACY_STREAM, Driver, load_driver
from .lent import map_buffer
from .native import CUDA, ELEMENT_BITS, NativeCandidate
from .sass import count
from .shared import SharedMemory
from .timing import Timing


class GpuCandidate(NativeCandidate):
    """A library with its packed arguments, and the device that it runs on.

    Nothing touches the device before ``begin``, so that the threads which the driver starts inherit every protection.
    """

    def __init__(self, setup: dict[str, Any]) -> None:
        self._cuda = load_driver()
        self._runtimes = [ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL) for library in setup["libraries"]]
        self._given = setup["device"]
        super().__init__(setup["runtime"], setup["symbol"], (CUDA, self._given["ordinal"]))
        self._arguments: list[list[dict[str, Any]]] = []
        self.tensors: list[tuple[str, int, int]] = []
        self._trace: ActivityTrace | None = None
        self.requests: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "time": self._time,
            "prove": self._prove,
            "profile": self._profile,
        }

    def begin(self, arguments: list[list[dict[str, Any]]]) -> None:
        """Start the driver, map what the judge lends and pack the arguments. Raises ``CudaError``."""
        self.driver = Driver(self._cuda, self._given["ordinal"])
        self.driver.keep_pooled_memory()
        buffers = self._given["buffers"]
        bases = [map_buffer(self.driver, buffer) for buffer in buffers]
        self._arguments = [
            [
                argument
                if "value" in argument
                else argument
                | {"offset": bases[argument["buffer"]] + argument["offset"], "output": buffers[argument["buffer"]]["writable"]}
                for argument in slot
            ]
            for slot in arguments
        ]
        if self._given["exact"]:
            self._arguments = [[self._alone(argument) for argument in slot] for slot in self._arguments[:1]]
        self._timing = Timing(self.driver, self._given["flush_bytes"])
        fill = self._given["fill_shared"]
        self._shared = None if fill is None else SharedMemory(self.driver, base64.b64decode(fill), self._given["poison"])
        self.place(0, self._arguments)
        self._set_stream()
        self.driver.synchronise()

    def call(self, slot: int) -> object:
        """Call the candidate on one slot, shared memory poisoned, and wait for the device. Raises ``CandidateError``."""
        if self._shared is not None:
            self._shared.fill()
            self.driver.synchronise()
        return self._call_alone(slot)

    def _call_alone(self, slot: int) -> object:
        super().call(slot)
        self.driver.synchronise()
        return None

    def pending(self) -> str | None:
        """Take the error that the candidate left in the CUDA runtime; it is that of a launch which never began, as a rule."""
        for runtime in self._runtimes:
            code = runtime.cudaGetLastError() if hasattr(runtime, "cudaGetLastError") else 0
            if code:
                runtime.cudaGetErrorName.restype = runtime.cudaGetErrorString.restype = ctypes.c_char_p
                name, text = runtime.cudaGetErrorName(code), runtime.cudaGetErrorString(code)
                return f"CUDA runtime error {code} ({name.decode()}): {text.decode()}"
        return None

    def _set_stream(self) -> None:
        """Make the default stream the environment's, as a caller from torch would."""
        device, ordinal = ctypes.c_int32(CUDA), ctypes.c_int32(self.driver.ordinal)
        self._runtime.TVMFFIEnvSetStream(device, ordinal, ctypes.c_void_p(LEGACY_STREAM), None)

    def _alone(self, argument: dict[str, Any]) -> dict[str, Any]:
        """Give a tensor an allocation of its own and exactly its size: a copy of an input, poison or nothing for an output."""
        size = 0 if "value" in argument else _size_bytes(argument)
        if size == 0:
            return argument
        address = self.driver.allocate(size)
        if not argument["output"]:
            self.driver.copy(address, argument["offset"], size)
        elif self._given["poison"] is not None:
            self.driver.fill(address, self._given["poison"], size, LEGACY_STREAM)
        self.tensors.append((argument["name"], address, size))
        return argument | {"offset": address}

    def _poison(self, slot: int, stream: int) -> None:
        for argument in self._arguments[slot]:
            if "value" not in argument and argument["output"] and _size_bytes(argument):
                self.driver.fill(argument["offset"], self._given["poison"], _size_bytes(argument), stream)

    def _time(self, request: dict[str, Any]) -> dict[str, Any]:
        slots, method = request["slots"], request["method"]
        order = [slots[place % len(slots)] for place in range(request["warm_up"] + request["iterations"])]
        launch = super().call
        if method == "events":
            return self._timing.by_events(order, request["warm_up"], self._poison, launch)
        try:
            if self._trace is None:
                self._trace = ActivityTrace(self._given["cupti"])
            return self._timing.by_activity(self._trace, order, request["warm_up"], self._poison, launch)
        except Unavailable as error:
            return {"ns": [], "method": None, "why": str(error)}

    def _prove(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._trace is not None:
            self._trace.stop()
        try:
            counted = count(self._given["cupti"], self.driver, lambda: self._call_alone(request["slot"]))
        except Unavailable as error:
            return {"bytes": 0, "why": str(error), "permission": error.permission}
        data = json.dumps(counted, separators=(",", ":")).encode()
        if len(data) > self._given["results_bytes"]:
            return {"bytes": 0, "why": f"the counts take {len(data)} bytes", "permission": False}
        os.pwrite(self._given["results"], data, 0)
        return {"bytes": len(data)}

    def _profile(self, request: dict[str, Any]) -> dict[str, Any]:
        self.driver.run("cuProfilerStart")
        self._call_alone(request["slot"])
        self.driver.run("cuProfilerStop")
        return {"ns": [], "returned": None}


def _size_bytes(argument: dict[str, Any]) -> int:
    count = 1
    for size in argument["shape"]:
        count *= size
    return count * ELEMENT_BITS[argument["dtype"]] // 8
