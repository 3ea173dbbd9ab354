"""Packages that lie outside of this interpreter's path: found while their folders can still be listed, imported when needed."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import types
from collections.abc import Sequence


class PackageFinder(importlib.abc.MetaPathFinder):
    """Find the named packages in the folders that hold them, and nothing else that is installed there."""

    def __init__(self, names: Sequence[str], folders: Sequence[str]) -> None:
        self._specs = {name: importlib.machinery.PathFinder.find_spec(name, list(folders)) for name in names}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See ``importlib.abc.MetaPathFinder``."""
        return self._specs.get(fullname)
