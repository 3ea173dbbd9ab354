"""Whether a fault that only a machine has is one: the device is asked, and not only the process that names it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ptxbench.core.errors import JudgeError
from ptxbench.evaluate.cuda_error import counted_as_memory_error, is_contained, is_machine_fault
from ptxbench.schema import Flag, RunFailure

CLAIMED_FAULT = "claimed_fault"
LOOKS, LOOK_S = 10, 0.1
"""How often the count is read before a claim is disbelieved: whether NVML has it at once is documented nowhere."""


class MachineFaults:
    """Begun with an evaluation, asked when its candidate failed.

    Args:
        count: how many memory errors the device could not correct since it was started, None where it does not tell.
        require_context: raises where the judge's own context on the device works no more.

    """

    def __init__(self, count: Callable[[], int | None], require_context: Callable[[], None]) -> None:
        self._count = count
        self._require_context = require_context
        self._before = count()

    def blame(self, failure: RunFailure) -> Flag | None:
        """Raise ``JudgeError`` for a failure that only the machine can be to blame for; such an evaluation is tried again.

        A process in which the candidate answers for itself can name such a fault too. The device counts memory errors that it could
        not correct. The others but a contained one are of a device, driver or system that is not to be had (``CUresult``, cuda.h):
        a process that has begun meets none of them while the judge's own context works. Where nothing shows, the failure stays the
        candidate's, with a flag.
        """
        if not is_machine_fault(failure):
            return None
        self._require_context()
        if is_contained(failure) or (counted_as_memory_error(failure) and self._has_failed()):
            raise JudgeError(f"the device failed: {failure.text}", next_step="look at nvidia-smi and the kernel's log (Xid)")
        text = "the candidate's process names a fault of the machine, of which the device shows nothing"
        return Flag(code=CLAIMED_FAULT, text=text)

    def _has_failed(self) -> bool:
        never = threading.Event()
        for _ in range(LOOKS):
            now = self._count()
            if self._before is None or now is None or now > self._before:
                return True
            never.wait(LOOK_S)
        return False
