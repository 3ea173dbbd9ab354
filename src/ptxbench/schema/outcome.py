"""The one enum of outcomes, and who is to blame."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a candidate fared. The first in this order that applies is the outcome.

    An exception: a crash or time-out while comparing outranks a clean sanitizer run. An outcome that could not be decided is
    ``None`` in the records, with ``undecided`` saying why.
    """

    NO_CODE = "no_code"
    POLICY_VIOLATION = "policy_violation"
    COMPILE_ERROR = "compile_error"
    LOAD_ERROR = "load_error"
    SANITIZER_ERROR = "sanitizer_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    WRONG_VALUE = "wrong_value"
    TAMPERED = "tampered"
    CORRECT = "correct"


class ImportedOutcome(StrEnum):
    """Outcomes that only tables made elsewhere know: nothing here decides them. They count in N, as in their source."""

    OTHER_ERROR = "other_error"
    SANITIZE_TIMEOUT = "sanitize_timeout"
    PROFILING_SERVICE_TIMEOUT = "profiling_service_timeout"


class Blame(StrEnum):
    """Whose fault a failure is. Faults of the reference or of infrastructure never count against a candidate."""

    CANDIDATE = "candidate"
    REFERENCE = "reference"
    INFRASTRUCTURE = "infrastructure"


class Profile(StrEnum):
    """The two sets of rules of the protocol: ``paper`` as published, ``strict`` ours."""

    PAPER = "paper"
    STRICT = "strict"


class Language(StrEnum):
    """What a candidate is written in."""

    CUDA = "cuda"
    CPP = "cpp"
    PYTHON = "python"
    TRITON = "triton"
