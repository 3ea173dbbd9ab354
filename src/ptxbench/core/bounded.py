"""Text that was bounded when it was read: the head and the tail of what a process printed."""

from __future__ import annotations

from collections import deque


class BoundedOutput:
    """Keep the first half and the last half of ``limit_bytes`` of a stream of any length, in constant memory.

    Of an odd limit the tail gets the larger half; a limit below 2 keeps one byte of the head.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._half = max(1, limit_bytes // 2)
        self._tail_limit = max(0, limit_bytes - self._half)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        self.total_bytes += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        data = data[max(0, len(data) - self._tail_limit) :]
        if data:
            self._tail.append(bytes(data))
            self._tail_bytes += len(data)
            while self._tail and self._tail_bytes - len(self._tail[0]) >= self._tail_limit:
                self._tail_bytes -= len(self._tail.popleft())

    @property
    def dropped_bytes(self) -> int:
        """How many bytes between head and tail were not kept."""
        return max(0, self.total_bytes - len(self._head) - min(self._tail_bytes, self._tail_limit))

    def text(self) -> str:
        """Return what was kept, with one line that says how much is missing."""
        whole = b"".join(self._tail)
        tail = whole[max(0, len(whole) - self._tail_limit) :]
        head = bytes(self._head)
        if self.dropped_bytes:
            note = f"\n… {self.dropped_bytes} bytes left out …\n".encode()
            return (head + note + tail).decode("utf-8", "replace")
        return (head + tail).decode("utf-8", "replace")
