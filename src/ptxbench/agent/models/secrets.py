"""What must never be written: the key, and what an address carries in its user part and its query."""

from __future__ import annotations

import re
from base64 import b64encode
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from ptxbench.core.errors import UsageError

SHORTEST_KEY = 5
SHORTEST_IN_ADDRESS = 8
"""Shorter ones are words that replies use, and are no secrets."""


_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")


def check_variable(name: str) -> None:
    """Raise ``UsageError`` for what is no name of an environment variable, without telling it: it may be a key that was pasted."""
    if not _VARIABLE.fullmatch(name):
        raise UsageError(
            "key_variable is to name an environment variable: capital letters, digits and underscores, and never the key itself",
            next_step="set a variable to the key and write its name; a key that stood in a file is better replaced",
        )


def public_address(address: str) -> str | None:
    """Return an address without user, password, query and fragment; None when it is not one."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{parts.path}"


class Secrets:
    """Cuts the secrets of one endpoint out of texts."""

    def __init__(self, key: str, address: str | None) -> None:
        found = {key} if len(key) >= SHORTEST_KEY else set()
        parts = urlsplit(address or "")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        carried = [password, *(value for _, value in parse_qsl(parts.query))]
        found |= {value for value in carried if len(value) >= SHORTEST_IN_ADDRESS}
        if password:
            found.add(b64encode(f"{user}:{password}".encode()).decode())
        spelled = found | {quote(value, safe="") for value in found} | {quote(value) for value in found}
        self._found = tuple(sorted(spelled, key=lambda value: (-len(value), value)))

    def __repr__(self) -> str:
        return f"Secrets({len(self._found)})"

    def cut_from(self, text: str) -> str:
        """Return the text with ``[key]`` in place of every secret."""
        for secret in self._found:
            text = text.replace(secret, "[key]")
        return text
