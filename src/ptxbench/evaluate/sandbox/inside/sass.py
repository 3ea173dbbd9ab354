"""Executed instructions of one call, counted by CUPTI's SASS metrics: the driver patches the kernels, no replay is needed.

Structures as in CUPTI 13.0's ``cupti_sass_metrics.h``, ``cupti_target.h`` and ``cupti_profiler_target.h``.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from .activity import Unavailable
from .driver import Driver

METRICS = ("smsp__sass_inst_executed", "smsp__sass_thread_inst_executed_pred_on")
"""Executions by warps, and by threads whose predicate was true."""
_WHOLE_GPU = 0
_WHEN_FIRST_EXECUTED = 1
_INSUFFICIENT_PRIVILEGES = (35, 40)
"""``CUPTI_ERROR_INSUFFICIENT_PRIVILEGES``, and the same of a virtual device."""


class _Head(ctypes.Structure):
    """What every parameter block begins with: its size, and a pointer that stays null."""

    _fields_: ClassVar[Any] = (("size", ctypes.c_size_t), ("private", ctypes.c_void_p))


class _ChipName(_Head):
    _fields_ = (("device", ctypes.c_size_t), ("chip", ctypes.c_char_p))


class _Metric(ctypes.Structure):
    _fields_ = (("id", ctypes.c_uint64), ("name", ctypes.c_char_p), ("description", ctypes.c_char_p))


class _Properties(_Head):
    _fields_ = (("chip", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metric", _Metric))


class _Config(ctypes.Structure):
    _fields_ = (("metric", ctypes.c_uint64), ("granularity", ctypes.c_uint8))


class _SetConfig(_Head):
    _fields_ = (("count", ctypes.c_size_t), ("configs", ctypes.POINTER(_Config)), ("device", ctypes.c_uint32))


class _Enable(_Head):
    _fields_ = (("context", ctypes.c_void_p), ("lazy", ctypes.c_uint8))


class _Disable(_Head):
    _fields_ = (("context", ctypes.c_void_p), ("dropped", ctypes.c_size_t))


class _DataProperties(_Head):
    _fields_ = (("context", ctypes.c_void_p), ("records", ctypes.c_size_t), ("instances", ctypes.c_size_t))


class _Value(ctypes.Structure):
    _fields_ = (("metric", ctypes.c_uint64), ("value", ctypes.c_uint64))


class _Record(_Head):
    _fields_ = (
        ("cubin", ctypes.c_uint32),
        ("function", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("pc", ctypes.c_uint32),
        ("values", ctypes.POINTER(_Value)),
    )


class _Flush(_Head):
    _fields_ = (
        ("context", ctypes.c_void_p),
        ("records", ctypes.c_size_t),
        ("instances", ctypes.c_size_t),
        ("data", ctypes.POINTER(_Record)),
    )


def count(library: str | None, driver: Driver, call: Callable[[], object]) -> dict[str, Any]:
    """Return what one call executed: ``{"kernels": [{"name", "pcs": [[offset, warps, threads], …]}, …], "dropped"}``.

    A process can do this once: CUPTI takes no second configuration. Raises ``Unavailable``, and whatever the call raises.
    """
    if library is None:
        raise Unavailable("CUPTI's library is not installed")
    try:
        cupti = _Cupti(ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL))
    except OSError as error:
        raise Unavailable(f"CUPTI cannot be loaded: {error}") from error
    cupti.run("cuptiProfilerInitialize", _Head(), "private")
    chip = _ChipName(device=driver.ordinal)
    cupti.run("cuptiDeviceGetChipName", chip, "chip")
    metrics = [cupti.metric(chip.chip, name) for name in METRICS]
    configs = (_Config * len(metrics))(*(_Config(metric, _WHOLE_GPU) for metric in metrics))
    cupti.run("cuptiSassMetricsSetConfig", _SetConfig(count=len(metrics), configs=configs, device=driver.ordinal), "device")
    context = driver.context.value
    cupti.run("cuptiSassMetricsEnable", _Enable(context=context, lazy=_WHEN_FIRST_EXECUTED), "lazy")
    call()
    kernels = cupti.flush(context, metrics)
    disable = _Disable(context=context)
    cupti.run("cuptiSassMetricsDisable", disable, "dropped")
    return {"kernels": kernels, "dropped": disable.dropped}


class _Cupti:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def run(self, name: str, parameters: _Head, last: str) -> None:
        """Call a function of CUPTI; the block's size is said by its ``last`` field (``CUPTI_PROFILER_STRUCT_SIZE``)."""
        parameters.size = _size(type(parameters), last)
        code = self._library[name](ctypes.byref(parameters))
        if code != 0:
            text = ctypes.c_char_p()
            self._library.cuptiGetResultString(ctypes.c_int(code), ctypes.byref(text))
            said = (text.value or b"unknown").decode()
            raise Unavailable(f"{name} failed: error {code} ({said})", permission=code in _INSUFFICIENT_PRIVILEGES)

    def metric(self, chip: bytes, name: str) -> int:
        """Return the number of a metric on a chip."""
        properties = _Properties(chip=chip, name=name.encode())
        self.run("cuptiSassMetricsGetProperties", properties, "metric")
        number: int = properties.metric.id
        return number

    def flush(self, context: int | None, metrics: list[int]) -> list[dict[str, Any]]:
        """Return what was counted, by function."""
        properties = _DataProperties(context=context)
        self.run("cuptiSassMetricsGetDataProperties", properties, "instances")
        records, instances = properties.records, properties.instances
        if records == 0 or instances == 0:
            return []
        width = instances * len(metrics)
        values = (_Value * (width * records))()
        data = (_Record * records)()
        for place, record in enumerate(data):
            record.size = _size(_Flush, "instances")  # so the header says, though the block is another
            record.values = ctypes.cast(ctypes.byref(values, place * width * ctypes.sizeof(_Value)), ctypes.POINTER(_Value))
        self.run("cuptiSassMetricsFlushData", _Flush(context=context, records=records, instances=instances, data=data), "instances")
        functions: dict[tuple[int, int, bytes], dict[int, Counter[int]]] = {}
        for record in data:
            key = record.cubin, record.function, record.name or b""
            totals = functions.setdefault(key, {}).setdefault(record.pc, Counter())  # an instruction has a record a metric
            for place in range(width):
                totals[record.values[place].metric] += record.values[place].value
        return [
            {
                "name": key[2].decode("utf-8", "replace"),
                "pcs": [[pc, *(totals[metric] for metric in metrics)] for pc, totals in sorted(pcs.items())],
            }
            for key, pcs in functions.items()
        ]


def _size(block: type[ctypes.Structure], last: str) -> int:
    field = getattr(block, last)
    size: int = field.offset + field.size
    return size
