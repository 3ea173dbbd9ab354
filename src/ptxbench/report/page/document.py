"""The HTML document: program and style in place, data as data, and a policy that lets nothing in or out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

PROGRAM = (
    *("element", "numbers", "data", "route", "theme", "filters", "table", "highlight", "diff", "charts", "curves"),
    *("overview", "cell", "trajectory", "evaluation", "source", "turn", "keyboard", "live", "main"),
)
"""The script's files in the order in which they are joined; together they are one function's body."""

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def document(title: str, data: Mapping[str, Any], details: str = "", *, live: bool = False) -> str:
    """Return the whole page.

    ``data`` is what the page shows at once; ``details`` (see ``packing``) what it unpacks when a turn is opened. A
    ``live`` page asks its own server for those, and is told of new turns.
    """
    style, program = _asset("style.css"), script()
    parts = {
        "policy": content_security_policy(live=live),
        "title": escaped_text(title),
        "style": style,
        "data": json_block(data),
        "program": program,
        "details": details,
    }
    # One pass, so that nothing that was put in is looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark.group(1)], _asset("page.html"))


def content_security_policy(*, live: bool) -> str:
    """Return the policy: this style and this program and nothing else, no connection (a live page: its own server's only)."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script()),
        "style-src": _hash(_asset("style.css")),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if live:
        rules["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in rules.items())


@cache
def script() -> str:
    """Return the program: one function, so that nothing of it is global."""
    parts = [_asset("script", f"{name}.js") for name in PROGRAM]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def json_block(value: Any) -> str:
    """Return JSON that can stand in a script element: no character in it can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029]", lambda found: _ESCAPES[found.group()], text).encode("utf-8", "replace").decode("utf-8")


def escaped_text(text: str) -> str:
    """Return text as HTML that shows it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


@cache
def _asset(*name: str) -> str:
    return files("ptxbench.report.page").joinpath(*name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
