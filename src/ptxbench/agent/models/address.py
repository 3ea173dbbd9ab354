"""An endpoint's address: what can be one, and its parts."""

from __future__ import annotations

import re
import socket
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ptxbench.core.errors import UsageError

EXAMPLE = "http://127.0.0.1:8000/v1"

_REQUEST = "/chat/completions"
"""What a client adds to the address."""


_UNKNOWN = {socket.EAI_NONAME, socket.EAI_NODATA}
"""A name without an address; a name server that cannot be asked (``EAI_AGAIN``) says nothing of the name."""

_VERSION = re.compile(r"v\d+\w*")


def refuse_empty(url: str | None) -> None:
    """Raise ``UsageError`` for an address that was named and is empty, as a variable is that was never set."""
    if url is not None and not url.strip():
        raise UsageError("the model's address is empty", next_step=f"name one with --base-url, such as {EXAMPLE}, or leave it out")


def check_address(url: str) -> None:
    """Raise ``UsageError`` for what is no address of an endpoint, without telling it: it may hold a password."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            "the model's address must be a URL that starts with http:// or https://",
            next_step=f"such as {EXAMPLE}: see --base-url, a plan's base_url or OPENAI_BASE_URL, whichever was given",
        )
    if parts.path.rstrip("/").endswith(_REQUEST):
        raise UsageError(
            f"the model's address must end before {_REQUEST}, which every request adds",
            next_step=f"leave {_REQUEST} out: the address is one such as {EXAMPLE}",
        )


def has_version(path: str) -> bool:
    """Whether an address's path names a version of the protocol, such as ``/v1`` or ``/v1beta``."""
    return any(_VERSION.fullmatch(part) for part in path.split("/"))


def is_unknown_name(error: BaseException | None) -> bool:
    """Whether a connection failed for a host name that nobody knows, by the error or by what caused it."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            return error.errno in _UNKNOWN
        error = error.__cause__ or error.__context__
    return False


def split_query(url: str) -> tuple[str, list[tuple[str, str]]]:
    """Return an address without query and fragment, and the parameters of its query: they belong behind a request's own path."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query="", fragment="")), parse_qsl(parts.query, keep_blank_values=True)
