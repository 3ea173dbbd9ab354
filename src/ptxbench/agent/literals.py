"""Where source text only quotes: whether a line of code ends inside a comment, a docstring or a raw string.

A fence there belongs to the source and does not end the block that holds it.
"""

from __future__ import annotations

import re

C_LABELS = frozenset({"cpp", "c++", "cuda", "cu", "c"})
PYTHON_LABELS = frozenset({"python", "py", "triton"})

_STRING = r'"(?:\\.|[^"\\])*\\?(?:"|$)'
"""A string on one line; one that is not closed goes to the line's end, so that a scan never starts over."""
_C_TOKEN = re.compile(rf'//.*|/\*|(?<!\w)(?:u8|[uUL])?R"([^()\\\s]{{0,16}})\(|{_STRING}|\'(?:\\.|[^\'\\])\'')
_PYTHON_TOKEN = re.compile(rf"""\#.*|'{{3}}|\"{{3}}|{_STRING}|'(?:\\.|[^'\\])*\\?(?:'|$)""")


class OpenLiteral:
    """Follows a block line by line. ``end`` is the text that ends the literal which is open after the last line, else None."""

    def __init__(self, label: str) -> None:
        self._pattern = _C_TOKEN if label in C_LABELS else _PYTHON_TOKEN if label in PYTHON_LABELS else None
        self.end: str | None = None

    def feed(self, line: str) -> bool:
        """Take the next line; return whether it ends in code, and neither inside a literal nor in a comment."""
        if self._pattern is None:
            return True
        position = 0
        while True:
            if self.end is not None:
                found = line.find(self.end, position)
                if found < 0:
                    return False
                position, self.end = found + len(self.end), None
            match = self._pattern.search(line, position)
            if match is None:
                return True
            token, position = match.group(), match.end()
            if token.startswith(("//", "#")):
                return False
            if token == "/*":
                self.end = "*/"
            elif token in ("'''", '"""'):
                self.end = token
            elif match.lastindex is not None:
                self.end = f'){match.group(1)}"'
