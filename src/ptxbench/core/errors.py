"""One error tree: every error a user can meet has a stable code, an exit code and a next step."""

from __future__ import annotations

from typing import Any, ClassVar


class PtxbenchError(Exception):
    """Base of all errors that ptxbench raises on purpose.

    Args:
        message: one line that says what is wrong.
        next_step: one line that says what the user can do about it, or None.
        details: machine-readable facts for ``--json``.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, next_step: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.details = details

    def as_json(self) -> dict[str, Any]:
        """Return the error as the object that ``--json`` prints."""
        return {"error": self.code, "message": self.message, "next_step": self.next_step, **self.details}


class UsageError(PtxbenchError):
    """The user asked for something that does not exist or cannot be read (exit code 2)."""

    code = "usage"
    exit_code = 2


class SourceError(UsageError):
    """A candidate's source cannot be used: missing, empty, too large, not UTF-8, outside its folder."""

    code = "bad_source"


class UnknownTask(UsageError):
    """No task of that name in the loaded suites."""

    code = "unknown_task"


class UnknownArch(UsageError):
    """No architecture of that name."""

    code = "unknown_arch"


class SuiteError(UsageError):
    """A suite folder holds records that cannot be used or that contradict each other."""

    code = "bad_suite"


class PackError(UsageError):
    """A knowledge pack, or a part of one, does not exist or cannot be read as what it should be."""

    code = "bad_pack"


class RunMismatch(UsageError):
    """A run directory was made with other versions or settings than the present ones."""

    code = "run_mismatch"


class NotComparable(UsageError):
    """Runs differ in what must be equal for their numbers to be compared."""

    code = "not_comparable"


class InfrastructureError(PtxbenchError):
    """Something of ours, or of the machine, failed (exit code 3). Never counts against a candidate."""

    code = "infrastructure"
    exit_code = 3


class Cancelled(InfrastructureError):
    """Work was given up because nobody waits for it any more."""

    code = "cancelled"


class ToolMissing(InfrastructureError):
    """A compiler, disassembler or Python extra that is needed is not installed."""

    code = "tool_missing"


class NoGpu(InfrastructureError):
    """A GPU was asked for and none can be used."""

    code = "no_gpu"


class DeviceMemoryFull(InfrastructureError):
    """The GPU has no room for what the judge itself needs: a fault of the machine, whoever fills it."""

    code = "device_memory"

    STEP: ClassVar[str] = "end other programs that use this GPU (nvidia-smi lists them), or choose a smaller workload"

    def __init__(self, message: str, *, next_step: str | None = STEP, **details: Any) -> None:
        super().__init__(message, next_step=next_step, **details)


class StorageError(InfrastructureError):
    """The disk is full, or a store cannot be written or is damaged."""

    code = "storage"


class ModelError(InfrastructureError):
    """A model endpoint did not answer, or answered with an error that retries did not cure."""

    code = "model"


class JudgeError(InfrastructureError):
    """The judge process died or broke its protocol."""

    code = "judge"


def nearest(name: str, known: list[str], limit: int = 3) -> list[str]:
    """Return up to ``limit`` known names that look most like ``name``."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=limit, cutoff=0.5)
    return close or get_close_matches(name.lower(), known, n=limit, cutoff=0.3)
