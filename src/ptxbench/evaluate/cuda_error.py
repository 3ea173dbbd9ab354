"""Numbers of CUDA errors in what a candidate's process said of its failure: those of kernels, and those of the machine."""

from __future__ import annotations

import re

from ptxbench.schema import RunFailure

KERNEL_FAULTS = frozenset({700, 702, 709, 710, 714, 715, 716, 717, 718, 719})
"""``CUresult`` of what a kernel did (CUDA driver API): illegal addresses and instructions, asserts, failed launches."""
MEMORY_ERRORS = frozenset({214})
"""``CUresult`` of an error in the device's memory that could not be corrected (``CUDA_ERROR_ECC_UNCORRECTABLE``, cuda.h): the
device counts them."""
CONTAINED = frozenset({226})
"""``CUresult`` of an error that the device kept from spreading (``CUDA_ERROR_CONTAINED``, cuda.h): of its memory or not."""
MACHINE_FAULTS = MEMORY_ERRORS | CONTAINED | {46, 220, 802, 803}
"""``CUresult`` of what no kernel does: the device is unavailable, its memory or NVLink failed, such an error was contained, the
system is not ready, the driver does not fit."""
_CODE = re.compile(r"CUDA error (\d{1,4})\b")


def is_kernel_fault(failure: RunFailure) -> bool:
    """Whether a kernel did something that the device ended it for."""
    return _number(failure) in KERNEL_FAULTS


def is_machine_fault(failure: RunFailure) -> bool:
    """Whether the failure is one that only the machine can be to blame for, if it is what it is said to be."""
    return _number(failure) in MACHINE_FAULTS


def counted_as_memory_error(failure: RunFailure) -> bool:
    """Whether the device counts such failures itself."""
    return _number(failure) in MEMORY_ERRORS


def is_contained(failure: RunFailure) -> bool:
    """Whether nothing need show of the failure but in the process that met it."""
    return _number(failure) in CONTAINED


def _number(failure: RunFailure) -> int | None:
    found = _CODE.search(failure.text) if failure.kind == "cuda_error" else None
    return int(found[1]) if found else None
