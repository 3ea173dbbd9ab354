"""What contract programs showed on a device, and which contracts are therefore known to hold for the headers as they are now.

A bundle is one file of ``data/evidence/``, written by ``benchmarks/gpu_contracts.py`` and never by hand. It says for which code it
was measured; when a header's code changes, what rests on that header counts as executed no longer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError

from ptxbench.core.canonical import sha256
from ptxbench.core.errors import PackError
from ptxbench.packs.keys import first_fault
from ptxbench.packs.loading import Library, read_text
from ptxbench.packs.manifest import Id
from ptxbench.packs.page import Page, Status
from ptxbench.packs.parsing import Header, without_comments
from ptxbench.schema import Record

FOLDER = "evidence"
MODELS = "tests/packs/test_models.py"
"""Where the CPU models of hardware are tested."""
PROGRAMS = "tests/gpu/contracts"
"""Where the contract programs are in the source tree."""
REDO = "write it anew: benchmarks/gpu_contracts.py"


class CheckResult(Record):
    """One check of a contract: how many cases were compared with the model, and how many were wrong."""

    program: str
    contract: Id
    check: str
    cases: int = Field(ge=0)
    wrong: int = Field(ge=0)
    detail: str = ""
    """The first wrong case, or what was tried."""
    where: Literal["device", "model"]
    """``model``: the program's host part alone."""

    @property
    def failed(self) -> bool:
        """Whether something was wrong, or nothing was compared."""
        return self.wrong > 0 or self.cases == 0


class FigureResult(Record):
    """Figures that a program measured; their names end in the unit (``_ns``, ``_bytes_per_cycle``)."""

    program: str
    contract: Id
    check: str
    figures: Mapping[str, float]
    where: Literal["device", "model"]


class Bundle(Record):
    """All answers of the contract programs on one device."""

    schema_version: Literal[1] = 1
    device: str
    """As the driver names it: ``NVIDIA H200``."""
    capability: str
    driver: str | None
    """Version of the driver, where the machine says it."""
    cuda_driver: int
    cuda_runtime: int
    """As CUDA numbers them: 13000 for 13.0."""
    nvcc: str
    commit: str | None
    date: str
    headers: Mapping[str, str]
    """Fragment id of each file below ``include/`` to the hash of its code (``code_hash``)."""
    programs: Mapping[str, str]
    """File name of each program, and of what the programs share, to the hash of its code."""
    faults: Mapping[str, str]
    """Programs that were not built or did not come to their end, and why."""
    checks: tuple[CheckResult, ...]
    figures: tuple[FigureResult, ...]


def code_hash(text: str) -> str:
    """Hash C++ code as the compiler reads it: comments and layout are left out, so that better words spoil no evidence."""
    return sha256(" ".join(without_comments(text).split()).encode())


def header_hashes(library: Library) -> dict[str, str]:
    """Return the hash of the code of every header of the data, by fragment id."""
    return {name: code_hash(library.fragment(name).text) for name in library.below("include/")}


def read(library: Library) -> dict[str, Bundle]:
    """Return the bundles of a folder of pack data by name (``h200``). Raises ``PackError`` for one that cannot be read."""
    bundles = {}
    for path in sorted((library.root / FOLDER).glob("*.json")):
        where = f"{FOLDER}/{path.name}"
        try:
            bundles[path.stem] = Bundle.model_validate(json.loads(read_text(path)))
        except ValidationError as error:
            raise PackError(f"{where}: {first_fault(error)}", next_step=REDO) from error
        except (ValueError, RecursionError) as error:
            raise PackError(f"{where}: {error}", next_step=REDO) from error
    return bundles


def hashes(library: Library) -> dict[str, str]:
    """Return the hash of each bundle's file: what the lock keeps."""
    return {path.stem: sha256(read_text(path).encode()) for path in sorted((library.root / FOLDER).glob("*.json"))}


@dataclass(frozen=True)
class Evidence:
    """The bundles of a library, held against its headers as they are."""

    library: Library
    bundles: Mapping[str, Bundle]

    @classmethod
    def of(cls, library: Library) -> Self:
        """Read a library's bundles. Raises ``PackError`` for one that cannot be read."""
        return cls(library, read(library))

    @cached_property
    def code(self) -> dict[str, str]:
        """Hash of every header's code now."""
        return header_hashes(self.library)

    @cached_property
    def _headers_by_wrapper(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Wrapper name to the headers that define it, each with the contracts that its annotation names."""
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for name, header in self._headers.items():
            for wrapper in header.wrappers:
                found.setdefault(wrapper.name, []).append((name, wrapper.contracts))
        return found

    @cached_property
    def _headers(self) -> dict[str, Header]:
        contents = {name: self.library.fragment(name).content for name in self.library.below("include/")}
        return {name: content for name, content in contents.items() if isinstance(content, Header)}

    def headers_of(self, page: Page) -> list[str]:
        """Return the headers that a contract rests on: those of its wrappers, and what these include."""
        waiting = [
            header
            for wrapper, places in self._headers_by_wrapper.items()
            for header, contracts in places
            if wrapper in page.front.wrappers or page.front.id in contracts
        ]
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                targets = (self.library.included(name, include) for include in self._headers[name].own_includes)
                waiting += [target for target in targets if target in self._headers]
        return sorted(seen)

    def checks_of(self, contract: str) -> list[tuple[str, CheckResult]]:
        """Return (bundle, check) for everything that was tried of a contract on a device."""
        return [
            (name, check)
            for name, bundle in self.bundles.items()
            for check in bundle.checks
            if check.contract == contract and check.where == "device"
        ]

    def changed_since(self, bundle: str, headers: Iterable[str]) -> list[str]:
        """Return those of some headers whose code is not that of a bundle."""
        then = self.bundles[bundle].headers
        return [name for name in headers if then.get(name) != self.code.get(name)]

    def other_programs(self, bundle: str, tree: Path) -> list[str]:
        """Return the programs of a bundle whose code in the source tree is another one now, or gone."""
        places = {name: tree / PROGRAMS / name for name in self.bundles[bundle].programs}
        then = self.bundles[bundle].programs
        return [name for name, path in places.items() if not path.is_file() or code_hash(read_text(path)) != then[name]]

    def status(self, page: Page) -> Status:
        """Return how a contract is known: executed on a device, else compiled, modelled or what its page says of itself."""
        tried = self.checks_of(page.front.id)
        headers = self.headers_of(page)
        for bundle in {name for name, _ in tried}:
            sound = not any(check.failed for name, check in tried if name == bundle)
            if sound and not self.changed_since(bundle, headers):
                return Status.EXECUTED
        of_models = [test.startswith(f"{MODELS}::") for test in page.front.tests]
        if not all(of_models) and (headers or page.front.status is Status.COMPILED):
            return Status.COMPILED
        if any(of_models):
            return Status.MODELLED
        return page.front.status if page.front.status is Status.INFERRED else Status.DOCUMENTED
