"""How code of a candidate failed, as bounded text: whatever it raises is data, and none of it passes."""

from __future__ import annotations

import types

TEXT_LIMIT = 4000
FRAMES = 5


class CandidateError(Exception):
    """The candidate's code failed in a way that has a name: ``kind`` is stable, the message for people, ``details`` are numbers."""

    def __init__(self, kind: str, text: str, **details: int) -> None:
        super().__init__(text)
        self.kind = kind
        self.details = details


class Attempt:
    """A block that runs code of the candidate: what it raises (even ``SystemExit``) ends in ``failure`` and goes no further."""

    def __init__(self, kind: str, files: frozenset[str] = frozenset()) -> None:
        self._kind = kind
        self._files = files
        self.failure: tuple[str, str] | None = None
        self.details: dict[str, int] = {}

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> bool:
        if error is None:
            return False
        self.failure = (self._kind, "it raised what cannot be described")
        with _Contained():
            if isinstance(error, CandidateError):
                self.failure = (error.kind, shorten(str(error)))
                self.details = error.details
            else:
                self.failure = (self._kind, self._describe(error, trace))
        return True

    def _describe(self, error: BaseException, trace: types.TracebackType | None) -> str:
        message = "(its message cannot be printed)"
        with _Contained():
            message = str(error)
        places = []
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            if name in self._files:
                places.append(f"{name}:{trace.tb_lineno} in {trace.tb_frame.f_code.co_name}")
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and error.filename in self._files:
            places.append(f"{error.filename}:{error.lineno}")
        text = shorten(f"{type(error).__name__}: {message}")
        return "\n".join([text, *(f"  at {place}" for place in places[-FRAMES:])])


class _Contained:
    """A block that asks what a candidate raised for its name or message: that may be code of the candidate's too."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> bool:
        return True


def shorten(text: str) -> str:
    """Keep the head and the tail of a long text."""
    if len(text) <= TEXT_LIMIT:
        return text
    half = TEXT_LIMIT // 2
    return f"{text[:half]} … {len(text) - 2 * half} characters left out … {text[-half:]}"
