"""Where in a candidate a symbol of its binary comes from."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from ptxbench.toolchain.policy.content import mangled_parts
from ptxbench.toolchain.policy.groups import assemblies
from ptxbench.toolchain.policy.passes import Placed
from ptxbench.toolchain.policy.tokens import string_value

_FFI_WRAPPER = re.compile(r"^TVMFFI(?:Function|Env|Type)?(\w+)")
"""TVM-FFI's C++ headers call ``TVMFFIFunctionGetGlobal`` in ``GetGlobal...``, and so on."""
_MOST_ASSEMBLIES = 256
"""How many asm statements are searched for a symbol."""


class SymbolPlaces:
    """An index of a candidate's tokens by what they may have to do with a symbol."""

    def __init__(self, tokens: Sequence[Placed]) -> None:
        self._texts: dict[str, Placed] = {}
        self._strings: dict[str, Placed] = {}
        for placed in tokens:
            self._texts.setdefault(placed.token.text, placed)
            if placed.token.kind == "string":
                self._strings.setdefault(string_value(placed.token), placed)
        self._assemblies = [one for one, _ in zip(assemblies(tokens), range(_MOST_ASSEMBLIES), strict=False)]
        self._sorted = sorted(self._texts)

    def find(self, symbol: str) -> Placed | None:
        """Return the token of a symbol: its name, a string or an asm label that spells it, or a part of its mangled name."""
        exact = self._texts.get(symbol) or self._strings.get(symbol)
        if exact is not None:
            return exact
        label = next((keyword for keyword, text in self._assemblies if symbol in text), None)
        if label is not None:
            return label
        for part in (*reversed(mangled_parts(symbol)), *_FFI_WRAPPER.findall(symbol)):
            at = bisect_left(self._sorted, part)
            if at < len(self._sorted) and self._sorted[at].startswith(part):
                return self._texts[self._sorted[at]]
        return None
