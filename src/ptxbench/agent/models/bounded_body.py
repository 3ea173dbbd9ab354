"""Bodies of HTTP answers in bounded memory, whatever a server sends: endless errors, redirects that talk, gzip bombs."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

import httpx2

ANSWER_BYTES = 32 << 20
"""The longest body that is read, after decompression; no honest reply comes near it."""

_ZLIB = frozenset({"gzip", "x-gzip", "deflate"})


class AnswerTooLong(httpx2.HTTPError):
    """A body went on after the limit."""


class BoundedBody(httpx2.AsyncByteStream):
    """A body that raises ``AnswerTooLong`` at its limit, and ``DecodingError`` for what is not the encoding that it claims."""

    def __init__(self, inner: httpx2.AsyncByteStream, encoding: str, limit_bytes: int) -> None:
        self._inner = inner
        self._encoding = encoding
        self._left = limit_bytes
        self._limit = limit_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the decoded body piece by piece."""
        if self._encoding not in (*_ZLIB, "", "identity"):
            raise httpx2.DecodingError("the answer is compressed in a way that was not asked for")
        decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if self._encoding in _ZLIB else None
        async for raw in self._inner:
            piece = raw
            if decoder is not None:
                try:
                    piece = decoder.decompress(raw, self._left + 1)
                except zlib.error:
                    raise httpx2.DecodingError("the answer is not compressed as it claims") from None
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerTooLong(f"the answer is longer than {self._limit} bytes")
            yield piece

    async def aclose(self) -> None:
        """Close the connection's stream."""
        await self._inner.aclose()


async def bound(response: httpx2.Response) -> None:
    """Bound a response's body before anybody reads it (a response hook of the client; also sees redirects and errors)."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    response.stream = BoundedBody(response.stream, encoding, ANSWER_BYTES)
