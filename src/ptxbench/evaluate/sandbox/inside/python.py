"""Candidates in Python: ``run(*inputs, *outputs)`` on NumPy arrays that view the staging buffer."""

from __future__ import annotations

import ctypes
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import mmap
import sys
import types
from collections.abc import Sequence
from typing import Any

from .failure import CandidateError
from .packages import PackageFinder

PACKAGES = ("numpy", "ml_dtypes")
"""What a candidate may import beside the standard library and its own files."""
_WARM = ("numpy.fft", "numpy.linalg", "numpy.random", "traceback")


class SourceFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Find the candidate's own modules among its sources, which are never files here."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._files = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in sources}
        self._sources = sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See ``importlib.abc.MetaPathFinder``."""
        package = any(name.startswith(fullname + ".") for name in self._files)
        if fullname not in self._files and not package:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self._files.get(fullname), is_package=package)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run a module's source in it."""
        path = self._files.get(module.__name__)
        if path is not None:
            exec(compile(self._sources[path], path, "exec"), module.__dict__)


class PythonCandidate:
    """A module with its arrays, one list of them per slot."""

    def __init__(self, folders: list[str], symbol: str) -> None:
        sys.meta_path.append(PackageFinder(PACKAGES, folders))
        for name in (*PACKAGES, *_WARM):
            importlib.import_module(name)
        self._symbol = symbol
        self._function: Any = None
        self._slots: list[list[Any]] = []
        self.files: frozenset[str] = frozenset()

    def place(self, base: int, arguments: list[list[dict[str, Any]]]) -> None:
        """Make the arrays of every slot; ``base`` is where the staging buffer is mapped."""
        self._slots = [[_argument(base, argument) for argument in slot] for slot in arguments]

    def load(self, bundle: int) -> None:
        """Run the candidate's entry file. Raises ``CandidateError``, and whatever the file raises."""
        with mmap.mmap(bundle, 0, prot=mmap.PROT_READ) as text:
            entry, sources = json.loads(text[:])
        self.files = frozenset(sources)
        sys.meta_path.insert(0, SourceFinder(sources))
        module = types.ModuleType("candidate")
        module.__file__ = entry
        sys.modules["candidate"] = module
        exec(compile(sources[entry], entry, "exec"), module.__dict__)
        self._function = getattr(module, self._symbol, None)
        if not callable(self._function):
            raise CandidateError("missing_symbol", f"{entry} defines no function {self._symbol}")

    def call(self, slot: int) -> object:
        """Call the candidate on one slot and return what it returned. Raises whatever it raises."""
        return self._function(*self._slots[slot])


def _argument(base: int, argument: dict[str, Any]) -> Any:
    if "value" in argument:
        return argument["value"]
    import numpy as np

    dtype = np.dtype(argument["dtype"])
    shape = tuple(argument["shape"])
    count = 1
    for size in shape:
        count *= size
    if count == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_ubyte * (count * dtype.itemsize)).from_address(base + argument["offset"])
    return np.frombuffer(memory, dtype=dtype).reshape(shape)
